#include "pngfilter.h"

#include <string.h>

// The samples of a pixel, and room to calculate with them.
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef int16_t shorts8 __attribute__((vector_size(16)));

#define NAME(x) baseline_##x
#define TARGET
#include "loops.h"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define NAME(x) avx2_##x
#define TARGET __attribute__((target("avx2")))
#include "loops.h"
#undef NAME
#undef TARGET
#define CALL(use, name, ...) ((use) == CPNGFILTER_AVX2 ? avx2_##name(__VA_ARGS__) : baseline_##name(__VA_ARGS__))
#else
#define CALL(use, name, ...) ((void) (use), baseline_##name(__VA_ARGS__))
#endif

CPNGFilterInstructions cpngfilter_best_instructions(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return CPNGFILTER_AVX2;
#endif
    return CPNGFILTER_BASELINE;
}

void cpngfilter_adaptive(
    CPNGFilterInstructions use, const uint8_t *row, const uint8_t *above, size_t count, int step, uint8_t *out)
{
    CALL(use, adaptive, row, above, count, step, out);
}

void cpngfilter_restore(
    CPNGFilterInstructions use, int filter, const uint8_t *row, const uint8_t *above, size_t count, int step,
    uint8_t *out)
{
    CALL(use, restore, filter, row, above, count, step, out);
}

void cpngfilter_restore_two(
    CPNGFilterInstructions use, const uint8_t *row, const uint8_t *below, const uint8_t *above, size_t count, int step,
    uint8_t *out,
    uint8_t *out_below)
{
    CALL(use, restore_two, row, below, above, count, step, out, out_below);
}

void cpngfilter_turn_around(const uint8_t *numbers, size_t count, void *out)
{
    uint16_t *whole = out;
    for (size_t i = 0; i < count; i++) whole[i] = (uint16_t) (numbers[2 * i] << 8 | numbers[2 * i + 1]);
}
