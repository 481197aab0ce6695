#include "pngfilter.h"

#include <string.h>

// The samples of a pixel, and room to calculate with them.
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef int16_t shorts8 __attribute__((vector_size(16)));

#define NAME(x) baseline_##x
#define TARGET
#include "loops.h"

#ifdef AVX2_TARGET
#undef NAME
#undef TARGET
#define NAME(x) avx2_##x
#define TARGET AVX2_TARGET
#include "loops.h"
#endif

uint64_t cpngfilter_adaptive(
    CInstructions use, const uint8_t *row, const uint8_t *above, size_t count, int step, uint8_t *out)
{
    return CALL(use, adaptive, row, above, count, step, out);
}

// With a constant step, the comparison of two pixels is an instruction or two.
#define REPEATS(STEP)                                                                           \
    case STEP:                                                                                  \
        for (size_t i = 0; i < count; i += STEP) {                                              \
            const int is_left = i > 0 && memcmp(row + i, row + i - STEP, STEP) == 0;            \
            const int is_above = above && memcmp(row + i, above + i, STEP) == 0;                \
            repeats.either += (size_t) (is_left | is_above);                                    \
            repeats.both += (size_t) (is_left & is_above);                                      \
        }                                                                                       \
        break

CPNGRepeats cpngfilter_repeats(const uint8_t *row, const uint8_t *above, size_t count, int step)
{
    CPNGRepeats repeats = {0, 0};
    switch (step) {
        REPEATS(1);
        REPEATS(2);
        REPEATS(3);
        REPEATS(4);
        REPEATS(6);
        REPEATS(8);
    }
    return repeats;
}

void cpngfilter_restore(
    CInstructions use, int filter, const uint8_t *row, const uint8_t *above, size_t count, int step,
    uint8_t *out)
{
    CALL(use, restore, filter, row, above, count, step, out);
}

void cpngfilter_restore_two(
    CInstructions use, const uint8_t *row, const uint8_t *below, const uint8_t *above, size_t count, int step,
    uint8_t *out, uint8_t *out_below)
{
    CALL(use, restore_two, row, below, above, count, step, out, out_below);
}

void cpngfilter_turn_around(const uint8_t *numbers, size_t count, void *out)
{
    uint16_t *whole = out;
    for (size_t i = 0; i < count; i++) whole[i] = (uint16_t) (numbers[2 * i] << 8 | numbers[2 * i + 1]);
}
