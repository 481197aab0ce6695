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
    int16_t by_left = (int16_t) (above - corner), by_above = (int16_t) (left - corner);
    int16_t by_corner = (int16_t) (by_left + by_above);
    by_left = by_left < 0 ? (int16_t) -by_left : by_left;
    by_above = by_above < 0 ? (int16_t) -by_above : by_above;
    by_corner = by_corner < 0 ? (int16_t) -by_corner : by_corner;
    uint8_t other = by_above <= by_corner ? above : corner;
    return ((by_left <= by_above) & (by_left <= by_corner)) ? left : other;
}

TARGET static uint64_t NAME(cost)(
    int filter, const uint8_t *restrict row, const uint8_t *restrict above, size_t all, ptrdiff_t step)
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

TARGET static uint64_t NAME(adaptive)(
    const uint8_t *restrict row, const uint8_t *restrict above, size_t count, ptrdiff_t step, uint8_t *restrict out)
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
    return least;
}

// One pixel in a vector; with a constant step, a copy of it is an instruction or two.
TARGET static inline __attribute__((always_inline)) shorts8 NAME(pixel)(const uint8_t *bytes, int step)
{
    bytes8 pixel = {0};
    memcpy(&pixel, bytes, (size_t) step);
    return __builtin_convertvector(pixel, shorts8);
}

TARGET static inline __attribute__((always_inline)) shorts8 NAME(written)(shorts8 sum, uint8_t *out, int step)
{
    bytes8 pixel = __builtin_convertvector(sum, bytes8);
    memcpy(out, &pixel, (size_t) step);
    return __builtin_convertvector(pixel, shorts8);
}

// Paeth's predictor, the neighbour that is nearest to left + above − corner. If 3 × corner − above − left is at most
// the smaller of left and above, it is the larger; if at least the larger, the smaller; else the corner. `left` comes
// last into the sum, since the next pixel waits for it alone.
TARGET static inline __attribute__((always_inline)) shorts8 NAME(nearest)(shorts8 left, shorts8 above, shorts8 corner)
{
    const shorts8 threshold = corner + corner + corner - above - left;
    const shorts8 smaller = __builtin_elementwise_min(left, above), larger = __builtin_elementwise_max(left, above);
    const shorts8 is_larger = threshold <= smaller, is_smaller = larger <= threshold;
    return (is_larger & larger) | (~is_larger & ((is_smaller & smaller) | (~is_smaller & corner)));
}

// Each pixel needs the one to its left, so that only the samples of one pixel are calculated at once.
TARGET static inline __attribute__((always_inline)) void NAME(restore_pixels)(
    int filter, const uint8_t *row, const uint8_t *above, size_t count, int step, uint8_t *out)
{
    shorts8 left = {0}, corner = {0};
    for (size_t i = 0; i < count; i += (size_t) step) {
        const shorts8 difference = NAME(pixel)(row + i, step);
        const shorts8 up = NAME(pixel)(above + i, step);
        shorts8 predicted = left;
        if (filter == 3) predicted = (left + up) >> 1;
        if (filter == 4) predicted = NAME(nearest)(left, up, corner);
        left = NAME(written)(difference + predicted, out + i, step);
        corner = up;
    }
}

// Two rows at once, the lower one a pixel behind, so that the processor works on one row while it waits for the other.
TARGET static inline __attribute__((always_inline)) void NAME(restore_pairs)(
    const uint8_t *row, const uint8_t *below, const uint8_t *above, size_t count, int step, uint8_t *out,
    uint8_t *out_below)
{
    const size_t last = count - (size_t) step;
    shorts8 corner = NAME(pixel)(above, step), left_below = {0}, corner_below = {0};
    const shorts8 none = {0};
    shorts8 left = NAME(written)(NAME(pixel)(row, step) + NAME(nearest)(none, corner, none), out, step);
    for (size_t i = 0; i < last; i += (size_t) step) {
        const size_t next = i + (size_t) step;
        const shorts8 up = NAME(pixel)(above + next, step);
        const shorts8 right =
            NAME(written)(NAME(pixel)(row + next, step) + NAME(nearest)(left, up, corner), out + next, step);
        left_below = NAME(written)(
            NAME(pixel)(below + i, step) + NAME(nearest)(left_below, left, corner_below), out_below + i, step);
        corner_below = left;
        corner = up;
        left = right;
    }
    NAME(written)(
        NAME(pixel)(below + last, step) + NAME(nearest)(left_below, left, corner_below), out_below + last, step);
}

#define RESTORE_PIXELS(STEP)                                                         \
    switch (filter) {                                                                \
    case 1: NAME(restore_pixels)(1, row, above, count, STEP, out); break;            \
    case 3: NAME(restore_pixels)(3, row, above, count, STEP, out); break;            \
    default: NAME(restore_pixels)(4, row, above, count, STEP, out); break;           \
    }                                                                                \
    break

TARGET static void NAME(restore)(
    int filter, const uint8_t *row, const uint8_t *above, size_t count, int step, uint8_t *out)
{
    switch (filter) {
    case 0: memmove(out, row, count); return;
    case 2:
        for (size_t i = 0; i < count; i++) out[i] = (uint8_t) (row[i] + above[i]);
        return;
    }
    switch (step) {
    case 1: RESTORE_PIXELS(1);
    case 2: RESTORE_PIXELS(2);
    case 3: RESTORE_PIXELS(3);
    case 4: RESTORE_PIXELS(4);
    case 6: RESTORE_PIXELS(6);
    default: RESTORE_PIXELS(8);
    }
}

TARGET static void NAME(restore_two)(
    const uint8_t *row, const uint8_t *below, const uint8_t *above, size_t count, int step, uint8_t *out,
    uint8_t *out_below)
{
    switch (step) {
    case 1: NAME(restore_pairs)(row, below, above, count, 1, out, out_below); break;
    case 2: NAME(restore_pairs)(row, below, above, count, 2, out, out_below); break;
    case 3: NAME(restore_pairs)(row, below, above, count, 3, out, out_below); break;
    case 4: NAME(restore_pairs)(row, below, above, count, 4, out, out_below); break;
    case 6: NAME(restore_pairs)(row, below, above, count, 6, out, out_below); break;
    default: NAME(restore_pairs)(row, below, above, count, 8, out, out_below); break;
    }
}

#undef RESTORE_PIXELS
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
