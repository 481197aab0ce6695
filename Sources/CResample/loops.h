// The loops, compiled once for each set of instructions: NAME(x) names a function, TARGET holds its attributes. A
// vector of 16 numbers becomes several registers.

TARGET static void NAME(widen)(CResampleRow row, const void *in, float *out)
{
    size_t count = (size_t) row.width * (size_t) row.bands;
    size_t i = 0;
    switch (row.format) {
    case CRESAMPLE_UCHAR:
        for (; i + 16 <= count; i += 16)
            store(out + i, __builtin_convertvector(*(const bytes16 *) ((const uint8_t *) in + i), floats16));
        for (; i < count; i++) out[i] = ((const uint8_t *) in)[i];
        break;
    case CRESAMPLE_USHORT:
        for (; i + 16 <= count; i += 16)
            store(out + i, __builtin_convertvector(*(const shorts16 *) ((const uint16_t *) in + i), floats16));
        for (; i < count; i++) out[i] = ((const uint16_t *) in)[i];
        break;
    case CRESAMPLE_FLOAT:
        memcpy(out, in, count * sizeof(float));
        break;
    }
    if (!row.has_alpha) return;
    float full = row.format == CRESAMPLE_USHORT ? 65535 : 255;
    if (row.bands == 4) {
        for (int x = 0; x < row.width; x++, out += 4) {
            floats4 pixel = *(const floats4 *) out;
            float cover = pixel[3] / full;
            *(floats4 *) out = pixel * (floats4) {cover, cover, cover, 1};
        }
        return;
    }
    for (int x = 0; x < row.width; x++, out += row.bands)
        for (int b = 0; b < row.bands - 1; b++) out[b] *= out[row.bands - 1] / full;
}

TARGET static void NAME(sum_rows)(
    float *sum, int adds, const float *rows, size_t stride, const float *weights, int row_count, size_t count)
{
    size_t i = 0;
    for (; i + 16 * VECTORS <= count; i += 16 * VECTORS) {
        floats16 sums[VECTORS];
        EACH_VECTOR(v) sums[v] = adds ? load(sum + i + 16 * v) : (floats16) {0};
        const float *row = rows + i;
        for (int k = 0; k < row_count; k++, row += stride) {
            floats16 weight = (floats16) {0} + weights[k];
            EACH_VECTOR(v) sums[v] += weight * load(row + 16 * v);
        }
        EACH_VECTOR(v) store(sum + i + 16 * v, sums[v]);
    }
    // No further than the last vector: what follows may be sums of another part of the rows.
    for (; i < count; i += 16) {
        floats16 last = adds ? load(sum + i) : (floats16) {0};
        const float *row = rows + i;
        for (int k = 0; k < row_count; k++, row += stride) last += ((floats16) {0} + weights[k]) * load(row);
        store(sum + i, last);
    }
}

// Adds each pair of neighbouring pixels into one, in place. It adds every pixel to the next one, and keeps the sums
// that begin a pair: STEP numbers at a time.
#define JOIN(BANDS, STEP, ...)                                               \
    TARGET static void NAME(join_##BANDS)(float *row, int pixels)            \
    {                                                                        \
        const float *in = row;                                               \
        float *const end = row + pixels * BANDS;                             \
        for (; row < end; row += STEP, in += 2 * STEP) {                     \
            const floats16 first = load(in) + load(in + BANDS);              \
            const floats16 second = load(in + 16) + load(in + 16 + BANDS);   \
            store(row, __builtin_shufflevector(first, second, __VA_ARGS__)); \
        }                                                                    \
    }

JOIN(1, 16, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
JOIN(2, 16, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29)
JOIN(3, 15, 0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20, 24, 25, 26, 30)
JOIN(4, 16, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
JOIN(5, 15, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 25)

TARGET static void NAME(mean_rows)(
    const float *rows, size_t stride, int row_count, int shrink, int bands, int pixels, float *out)
{
    float sums[CRESAMPLE_MEANS + CRESAMPLE_PADDING];
    const floats16 share = (floats16) {0} + 1.0f / (float) (row_count * shrink);
    for (int i = 0; i < pixels * bands; i += 16) {
        floats16 sum = load(rows + i);
        for (int k = 1; k < row_count; k++) sum += load(rows + (size_t) k * stride + i);
        store(sums + i, sum * share);
    }
    const int whole = pixels / shrink, rest = pixels % shrink;
    float last[5] = {0};
    for (int x = whole * shrink; x < pixels; x++)
        for (int b = 0; b < bands; b++) last[b] += sums[x * bands + b];
    for (int left = shrink / 2; left > 0; left /= 2) {
        switch (bands) {
        case 1: NAME(join_1)(sums, whole * left); break;
        case 2: NAME(join_2)(sums, whole * left); break;
        case 3: NAME(join_3)(sums, whole * left); break;
        case 4: NAME(join_4)(sums, whole * left); break;
        default: NAME(join_5)(sums, whole * left); break;
        }
    }
    memcpy(out, sums, (size_t) (whole * bands) * sizeof(float));
    for (int b = 0; rest && b < bands; b++) out[whole * bands + b] = last[b] * (float) shrink / (float) rest;
}

// In pairs of numbers, of pairs, and of fours: how two registers are mixed so that rows become columns.
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define EVEN_FOURS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD_FOURS(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)

// 16 rows of 16 numbers become 16 columns of them: out[16 * i + j] = in[j][i].
TARGET static inline __attribute__((always_inline)) void NAME(turn)(
    const float *const *in, size_t place, float *const *out, size_t out_place)
{
    floats16 a[16], b[16];
    for (int i = 0; i < 16; i++) a[i] = load(in[i] + place);
    for (int i = 0; i < 16; i += 2) {
        b[i] = LOW(a[i], a[i + 1]);
        b[i + 1] = HIGH(a[i], a[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        a[i] = LOW_PAIRS(b[i], b[i + 2]);
        a[i + 1] = HIGH_PAIRS(b[i], b[i + 2]);
        a[i + 2] = LOW_PAIRS(b[i + 1], b[i + 3]);
        a[i + 3] = HIGH_PAIRS(b[i + 1], b[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        b[i] = EVEN_FOURS(a[i], a[i + 4]);
        b[i + 4] = ODD_FOURS(a[i], a[i + 4]);
        b[i + 8] = EVEN_FOURS(a[i + 8], a[i + 12]);
        b[i + 12] = ODD_FOURS(a[i + 8], a[i + 12]);
    }
    for (int i = 0; i < 4; i++) {
        store(out[i] + out_place, EVEN_FOURS(b[i], b[i + 8]));
        store(out[i + 4] + out_place, EVEN_FOURS(b[i + 4], b[i + 12]));
        store(out[i + 8] + out_place, ODD_FOURS(b[i], b[i + 8]));
        store(out[i + 12] + out_place, ODD_FOURS(b[i + 4], b[i + 12]));
    }
}

// One vector holds the same number of 16 rows, so that weights are fetched once for all of them and no lane is idle.
#define SCALE_TURNED(BANDS)                                                                                            \
    TARGET static void NAME(scale_turned_##BANDS)(CResampleTaps taps, int first, int end, const float *in, float *out) \
    {                                                                                                                  \
        for (int x = first; x < end; x++, out += 16 * BANDS) {                                                         \
            const float *pixel = in + (size_t) (taps.starts[x] - taps.starts[first]) * BANDS * 16;                     \
            floats16 sums[BANDS];                                                                                      \
            for (int b = 0; b < BANDS; b++) sums[b] = (floats16) {0};                                                  \
            for (int k = taps.places[x]; k < taps.places[x + 1]; k++, pixel += 16 * BANDS) {                           \
                floats16 weight = (floats16) {0} + taps.weights[k];                                                    \
                for (int b = 0; b < BANDS; b++) sums[b] += weight * load(pixel + 16 * b);                              \
            }                                                                                                          \
            for (int b = 0; b < BANDS; b++) store(out + 16 * b, sums[b]);                                              \
        }                                                                                                              \
    }

SCALE_TURNED(1)
SCALE_TURNED(2)
SCALE_TURNED(3)
SCALE_TURNED(4)
SCALE_TURNED(5)

// From here on, a column is the same number of 16 rows: one after the other, those of a pixel's bands and then the next
// pixel's.

TARGET static void NAME(divide_by_alpha)(float *columns, int pixels, int bands, float full)
{
    // An alpha that differs from full by its rounding is full: opaque pixels get the same colours with alpha as
    // without.
    const floats16 zero = {0}, least = zero + full * 0.999998f, most = zero + full * 1.000002f;
    const ints16 whole = (ints16) (zero + full);
    for (int x = 0; x < pixels; x++, columns += 16 * bands) {
        floats16 alpha = load(columns + 16 * (bands - 1));
        const ints16 is_opaque = (alpha > least) & (alpha < most);
        alpha = (floats16) ((~is_opaque & (ints16) alpha) | (is_opaque & whole));
        // The filter rings around sharp edges. Beyond full the colours ring along, so that they are divided by that
        // alpha too; an alpha below 0 means no colour.
        const floats16 factor = (floats16) ((alpha > zero) & (ints16) ((zero + full) / alpha));
        for (int b = 0; b < bands - 1; b++) store(columns + 16 * b, load(columns + 16 * b) * factor);
    }
}

// Rounds columns, cuts them to the range of the format, and stores them as parts of 16 rows: from number `first` on, of
// `total` in a row.
#define STORE(NUMBER, VECTOR, FULL)                                                                          \
    TARGET static void NAME(store_##NUMBER)(                                                                 \
        const float *columns, int count, void *const *rows, size_t first, size_t total)                      \
    {                                                                                                        \
        const floats16 zero = {0}, top = zero + FULL;                                                        \
        for (int i = 0; i < count; i += 16, first += 16) {                                                   \
            VECTOR a[16], b[16];                                                                             \
            for (int j = 0; j < 16; j++) {                                                                   \
                const floats16 value = load(columns + 16 * (i + j)) + 0.5f;                                  \
                const floats16 cut = __builtin_elementwise_min(__builtin_elementwise_max(value, zero), top); \
                a[j] = __builtin_convertvector(__builtin_convertvector(cut, ints16), VECTOR);                \
            }                                                                                                \
            /* Each time the numbers of two vectors are interleaved; after four times columns are rows. */   \
            for (int time = 0; time < 4; time++) {                                                           \
                for (int j = 0; j < 8; j++) {                                                                \
                    b[2 * j] = LOW_HALVES(a[j], a[j + 8]);                                                   \
                    b[2 * j + 1] = HIGH_HALVES(a[j], a[j + 8]);                                              \
                }                                                                                            \
                for (int j = 0; j < 16; j++) a[j] = b[j];                                                    \
            }                                                                                                \
            /* More than `count` may be stored, which the next numbers replace. */                           \
            const size_t room = total - first;                                                               \
            for (int j = 0; j < 16; j++) {                                                                   \
                NUMBER *place = (NUMBER *) rows[j] + first;                                                  \
                if (room >= 16) *(VECTOR *) place = a[j];                                                    \
                else memcpy(place, &a[j], room * sizeof(NUMBER));                                            \
            }                                                                                                \
        }                                                                                                    \
    }

#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

STORE(uint8_t, bytes16, 255.0f)
STORE(uint16_t, shorts16, 65535.0f)

TARGET static void NAME(store_float)(const float *columns, int count, void *const *rows, size_t first, size_t total)
{
    for (int i = 0; i < count; i += 16, first += 16) {
        const float *in[16];
        float part[16][16], *out[16];
        for (int j = 0; j < 16; j++) {
            in[j] = columns + 16 * (i + j);
            out[j] = part[j];
        }
        NAME(turn)(in, 0, out, 0);
        const size_t room = total - first < 16 ? total - first : 16;
        for (int j = 0; j < 16; j++) memcpy((float *) rows[j] + first, part[j], room * sizeof(float));
    }
}

TARGET static void NAME(scale_rows)(
    CResampleTaps taps, CResampleRow row, const float *const *in, void *const *out, float *scratch)
{
    const int bands = row.bands;
    const size_t total = (size_t) row.width * (size_t) bands;
    float results[CRESAMPLE_PIXELS * 5 * 16];
    for (int first = 0; first < row.width;) {
        int end = first + 1;
        int start = taps.starts[first];
        int stop = start + taps.places[end] - taps.places[first];
        // As many results as the columns in the scratch are enough for, and at least one.
        while (end < row.width && end - first < CRESAMPLE_PIXELS) {
            int needed = taps.starts[end] + taps.places[end + 1] - taps.places[end];
            if (needed - start > taps.columns) break;
            end++;
            stop = needed;
        }
        size_t count = (size_t) (stop - start) * (size_t) bands;
        for (size_t i = 0; i < count; i += 16) {
            float *columns[16];
            for (int j = 0; j < 16; j++) columns[j] = scratch + (i + (size_t) j) * 16;
            NAME(turn)(in, (size_t) start * (size_t) bands + i, columns, 0);
        }
        switch (bands) {
        case 1: NAME(scale_turned_1)(taps, first, end, scratch, results); break;
        case 2: NAME(scale_turned_2)(taps, first, end, scratch, results); break;
        case 3: NAME(scale_turned_3)(taps, first, end, scratch, results); break;
        case 4: NAME(scale_turned_4)(taps, first, end, scratch, results); break;
        default: NAME(scale_turned_5)(taps, first, end, scratch, results); break;
        }
        if (row.has_alpha)
            NAME(divide_by_alpha)(results, end - first, bands, row.format == CRESAMPLE_USHORT ? 65535 : 255);
        const size_t place = (size_t) first * (size_t) bands;
        const int done = (end - first) * bands;
        switch (row.format) {
        case CRESAMPLE_UCHAR: NAME(store_uint8_t)(results, done, out, place, total); break;
        case CRESAMPLE_USHORT: NAME(store_uint16_t)(results, done, out, place, total); break;
        case CRESAMPLE_FLOAT: NAME(store_float)(results, done, out, place, total); break;
        }
        first = end;
    }
}

#undef JOIN
#undef LOW
#undef HIGH
#undef LOW_PAIRS
#undef HIGH_PAIRS
#undef EVEN_FOURS
#undef ODD_FOURS
#undef SCALE_TURNED
#undef STORE
#undef LOW_HALVES
#undef HIGH_HALVES
