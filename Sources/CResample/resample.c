#include "resample.h"

#include <string.h>

// Vectors that may be anywhere in memory.
typedef float floats16 __attribute__((vector_size(64), aligned(4)));
typedef float floats4 __attribute__((vector_size(16), aligned(4)));
typedef int32_t ints16 __attribute__((vector_size(64)));
typedef uint8_t bytes16 __attribute__((vector_size(16), aligned(1)));
typedef uint16_t shorts16 __attribute__((vector_size(32), aligned(2)));

// Macros: a function that takes or gives vectors is called differently with and without wide registers.
#define load(address) (*(const floats16 *) (address))
#define store(address, value) (*(floats16 *) (address) = (value))
#define EACH_VECTOR(v) _Pragma("unroll") for (int v = 0; v < VECTORS; v++)

// a += b × c rounds twice, also where the processor could do it in one instruction that rounds once: every processor
// makes the same bits.
#pragma STDC FP_CONTRACT OFF

// VECTORS of sums are kept in registers at once.
#define VECTORS 2
#define NAME(x) baseline_##x
#define TARGET
#include "loops.h"

#ifdef AVX2_TARGET
#undef NAME
#undef TARGET
#define NAME(x) avx2_##x
#define TARGET AVX2_TARGET
#include "loops.h"
#undef NAME
#undef TARGET
#undef VECTORS
#define VECTORS 4
#define NAME(x) avx512_##x
#define TARGET AVX512_TARGET
#include "loops.h"
#endif

void cresample_widen(CInstructions use, CResampleRow row, const void *in, float *out)
{
    CALL_WIDE(use, widen, row, in, out);
}

void cresample_sum_rows(
    CInstructions use, float *sum, int adds, const float *rows, size_t stride, const float *weights,
    int row_count, size_t count)
{
    CALL_WIDE(use, sum_rows, sum, adds, rows, stride, weights, row_count, count);
}

void cresample_mean_rows(
    CInstructions use, const float *rows, size_t stride, int row_count, int shrink, int bands, int pixels,
    float *out)
{
    CALL_WIDE(use, mean_rows, rows, stride, row_count, shrink, bands, pixels, out);
}

void cresample_scale_rows(
    CInstructions use, CResampleTaps taps, CResampleRow row, const float *const *in, void *const *out,
    float *scratch)
{
    CALL_WIDE(use, scale_rows, taps, row, in, out, scratch);
}

// Tiles of the result whose pixels are in few lines of the cache, both where they are read and where they are written.
#define TILE 32

#define COPY_TILES(size)                                                                        \
    for (int top = 0; top < height; top += TILE)                                                \
        for (int left = 0; left < width; left += TILE)                                          \
            for (int y = top; y < height && y < top + TILE; y++) {                              \
                const uint8_t *from = (const uint8_t *) first + left * across + y * down;       \
                uint8_t *to = (uint8_t *) out + ((size_t) y * width + left) * (size);           \
                for (int x = left; x < width && x < left + TILE; x++, from += across, to += (size)) \
                    memcpy(to, from, (size));                                                   \
            }

void cresample_turn(
    const void *first, ptrdiff_t across, ptrdiff_t down, int pixel, int width, int height, void *out)
{
    // Copies of a length that the compiler knows are single instructions.
    switch (pixel) {
    case 1: COPY_TILES(1) break;
    case 2: COPY_TILES(2) break;
    case 3: COPY_TILES(3) break;
    case 4: COPY_TILES(4) break;
    case 6: COPY_TILES(6) break;
    case 8: COPY_TILES(8) break;
    default: COPY_TILES(pixel) break;
    }
}
