// The loops, compiled once for each set of instructions: NAME(x) names a function, TARGET holds its attributes.

// Rows longer than this are summed up in parts, so that 32 bits hold a sum.
#define LONGEST_SUM ((size_t) 1 << 24)

#define SUM_OF(difference)                                       \
    do {                                                         \
        for (size_t i = 0; i < count; i++) {                     \
            uint8_t d = (uint8_t) (difference);                  \
            sum += d < 128 ? d : (uint8_t) (256 - d);            \
        }                                                        \
    } while (0)

#define WRITE(difference)                                                        \
    do {                                                                         \
        for (size_t i = 0; i < count; i++) out[i] = (uint8_t) (difference);      \
    } while (0)

#define LEFT row[(ptrdiff_t) i - step]
#define ABOVE above[i]
#define CORNER above[(ptrdiff_t) i - step]

#define NONE (row[i])
#define SUB (row[i] - LEFT)
#define UP (row[i] - ABOVE)
#define AVERAGE (row[i] - ((LEFT + ABOVE) >> 1))
#define PAETH (row[i] - NAME(paeth)(LEFT, ABOVE, CORNER))

TARGET static inline uint8_t NAME(paeth)(uint8_t left, uint8_t above, uint8_t corner)
{
    int16_t by_left = (int16_t) (above - corner), by_above = (int16_t) (left - corner), by_corner = (int16_t) (by_left + by_above);
    by_left = by_left < 0 ? (int16_t) -by_left : by_left;
    by_above = by_above < 0 ? (int16_t) -by_above : by_above;
    by_corner = by_corner < 0 ? (int16_t) -by_corner : by_corner;
    uint8_t other = by_above <= by_corner ? above : corner;
    return (by_left <= by_above) & (by_left <= by_corner) ? left : other;
}

TARGET static uint64_t NAME(cost)(int filter, const uint8_t *restrict row, const uint8_t *restrict above, size_t all, ptrdiff_t step)
{
    uint64_t total = 0;
    for (size_t start = 0; start < all; start += LONGEST_SUM, row += LONGEST_SUM, above += LONGEST_SUM) {
        size_t count = all - start < LONGEST_SUM ? all - start : LONGEST_SUM;
        uint32_t sum = 0;
        switch (filter) {
        case 0: SUM_OF(NONE); break;
        case 1: SUM_OF(SUB); break;
        case 2: SUM_OF(UP); break;
        case 3: SUM_OF(AVERAGE); break;
        default: SUM_OF(PAETH); break;
        }
        total += sum;
    }
    return total;
}

TARGET static void NAME(adaptive)(const uint8_t *restrict row, const uint8_t *restrict above, size_t count, ptrdiff_t step, uint8_t *restrict out)
{
    int best = 0;
    uint64_t least = UINT64_MAX;
    for (int filter = 0; filter < 5; filter++) {
        uint64_t cost = NAME(cost)(filter, row, above, count, step);
        if (cost < least) {
            least = cost;
            best = filter;
        }
    }
    *out++ = (uint8_t) best;
    switch (best) {
    case 0: memcpy(out, row, count); break;
    case 1: WRITE(SUB); break;
    case 2: WRITE(UP); break;
    case 3: WRITE(AVERAGE); break;
    default: WRITE(PAETH); break;
    }
}

#undef LONGEST_SUM
#undef SUM_OF
#undef WRITE
#undef LEFT
#undef ABOVE
#undef CORNER
#undef NONE
#undef SUB
#undef UP
#undef AVERAGE
#undef PAETH
