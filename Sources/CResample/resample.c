#include "resample.h"

#include <string.h>

// Vectors that may be anywhere in memory.
typedef float floats8 __attribute__((vector_size(32), aligned(4)));
typedef float floats4 __attribute__((vector_size(16), aligned(4)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef uint8_t bytes8 __attribute__((vector_size(8), aligned(1)));
typedef uint16_t shorts8 __attribute__((vector_size(16), aligned(2)));

// Macros: a function that takes or gives vectors is called differently with and without wide registers.
#define load(address) (*(const floats8 *) (address))
#define store(address, value) (*(floats8 *) (address) = (value))

// a += b × c rounds twice, also where the processor could do it in one instruction that rounds once: every processor makes the same bits.
#pragma STDC FP_CONTRACT OFF

#define NAME(x) baseline_##x
#define TARGET
#include "loops.h"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define NAME(x) avx2_##x
#define TARGET __attribute__((target("avx2,fma")))
#include "loops.h"
#undef NAME
#undef TARGET
#define CALL(use, name, ...) ((use) == CRESAMPLE_AVX2 ? avx2_##name(__VA_ARGS__) : baseline_##name(__VA_ARGS__))
#else
#define CALL(use, name, ...) ((void) (use), baseline_##name(__VA_ARGS__))
#endif

CResampleInstructions cresample_best_instructions(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return CRESAMPLE_AVX2;
#endif
    return CRESAMPLE_BASELINE;
}

void cresample_widen(CResampleInstructions use, CResampleRow row, const void *in, float *out) { CALL(use, widen, row, in, out); }

void cresample_narrow(CResampleInstructions use, CResampleRow row, float *in, void *out) { CALL(use, narrow, row, in, out); }

void cresample_sum_rows(
    CResampleInstructions use, float *sum, int adds, const float *rows, size_t stride, const float *weights, int row_count, size_t count)
{
    CALL(use, sum_rows, sum, adds, rows, stride, weights, row_count, count);
}

int cresample_pixels_per_vector(int bands) { return bands == 1 ? 8 : bands == 2 ? 4 : 2; }

void cresample_scale_rows(CResampleInstructions use, CResampleTaps taps, int bands, const float *const *in, float *const *out)
{
    CALL(use, scale_rows, taps, bands, in, out);
}
