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

#define NAME(x) baseline_##x
#define TARGET
#define VECTORS 2
#include "loops.h"
#undef NAME
#undef TARGET

#if defined(__x86_64__)
#define NAME(x) avx2_##x
#define TARGET __attribute__((target("avx2")))
#include "loops.h"
#undef NAME
#undef TARGET
#undef VECTORS
#define NAME(x) avx512_##x
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTORS 4
#include "loops.h"
#undef NAME
#undef TARGET
#define CALL(use, name, ...)                                \
    ((use) == CRESAMPLE_AVX512 ? avx512_##name(__VA_ARGS__) \
     : (use) == CRESAMPLE_AVX2 ? avx2_##name(__VA_ARGS__)   \
                               : baseline_##name(__VA_ARGS__))
#else
#define CALL(use, name, ...) ((void) (use), baseline_##name(__VA_ARGS__))
#endif

CResampleInstructions cresample_best_instructions(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        return CRESAMPLE_AVX512;
    if (__builtin_cpu_supports("avx2")) return CRESAMPLE_AVX2;
#endif
    return CRESAMPLE_BASELINE;
}

void cresample_widen(CResampleInstructions use, CResampleRow row, const void *in, float *out)
{
    CALL(use, widen, row, in, out);
}

void cresample_sum_rows(
    CResampleInstructions use, float *sum, int adds, const float *rows, size_t stride, const float *weights,
    int row_count, size_t count)
{
    CALL(use, sum_rows, sum, adds, rows, stride, weights, row_count, count);
}

void cresample_mean_rows(
    CResampleInstructions use, const float *rows, size_t stride, int row_count, int shrink, int bands, int pixels,
    float *out)
{
    CALL(use, mean_rows, rows, stride, row_count, shrink, bands, pixels, out);
}

void cresample_scale_rows(
    CResampleInstructions use, CResampleTaps taps, CResampleRow row, const float *const *in, void *const *out,
    float *scratch)
{
    CALL(use, scale_rows, taps, row, in, out, scratch);
}
