#include "instructions.h"

CInstructions cinstructions_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return CINSTRUCTIONS_AVX2;
#endif
    return CINSTRUCTIONS_BASELINE;
}
