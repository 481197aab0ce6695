// The sets of instructions that inner loops are compiled for, and the choice between them. A set must be worth five
// percent of a workload.
#ifndef CINSTRUCTIONS_H
#define CINSTRUCTIONS_H

/// Each one includes those before it.
typedef enum { CINSTRUCTIONS_BASELINE, CINSTRUCTIONS_AVX2, CINSTRUCTIONS_AVX512 } CInstructions;

/// The best that this processor has. All give the same bits.
CInstructions cinstructions_best(void);

// For loops whose caller chooses, so that a test can compare: the file with them is included once for each set, with
// NAME(x) as the name of a function and TARGET as its attributes. CALL picks one of the first two sets, CALL_WIDE one
// of all three.
// For loops that nobody has to compare, in front of a function: EACH_TARGET compiles it for each set by itself.
#if defined(__x86_64__)
#define AVX2_TARGET __attribute__((target("avx2")))
#define AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define CALL(use, name, ...) ((use) >= CINSTRUCTIONS_AVX2 ? avx2_##name(__VA_ARGS__) : baseline_##name(__VA_ARGS__))
#define CALL_WIDE(use, name, ...) \
    ((use) >= CINSTRUCTIONS_AVX512 ? avx512_##name(__VA_ARGS__) : CALL(use, name, __VA_ARGS__))
#define EACH_TARGET __attribute__((target_clones("avx2", "default")))
#else
#define CALL(use, name, ...) ((void) (use), baseline_##name(__VA_ARGS__))
#define CALL_WIDE CALL
#define EACH_TARGET
#endif

#endif
