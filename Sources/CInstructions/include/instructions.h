// The sets of instructions that inner loops are compiled for, and the choice between them. A set must be worth five
// percent of a workload: AVX-512 was not, see docs/decisions/0007-our-own-resampler.md.
#ifndef CINSTRUCTIONS_H
#define CINSTRUCTIONS_H

typedef enum { CINSTRUCTIONS_BASELINE, CINSTRUCTIONS_AVX2 } CInstructions;

/// The best that this processor has. All give the same bits.
CInstructions cinstructions_best(void);

// For loops whose caller chooses, so that a test can compare: the file with them is included once for each set, with
// NAME(x) as the name of a function and TARGET as its attributes. CALL picks one.
// For loops that nobody has to compare, in front of a function: EACH_TARGET compiles it for each set by itself.
#if defined(__x86_64__)
#define AVX2_TARGET __attribute__((target("avx2")))
#define CALL(use, name, ...) ((use) == CINSTRUCTIONS_AVX2 ? avx2_##name(__VA_ARGS__) : baseline_##name(__VA_ARGS__))
#define EACH_TARGET __attribute__((target_clones("avx2", "default")))
#else
#define CALL(use, name, ...) ((void) (use), baseline_##name(__VA_ARGS__))
#define EACH_TARGET
#endif

#endif
