#include "instructions.h"

CInstructions cinstructions_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        return CINSTRUCTIONS_AVX512;
    if (__builtin_cpu_supports("avx2")) return CINSTRUCTIONS_AVX2;
#endif
    return CINSTRUCTIONS_BASELINE;
}
