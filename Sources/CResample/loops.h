// The loops, compiled once for each set of instructions: NAME(x) names a function, TARGET holds its attributes.
// Vectors of 8 floats become two registers of 4 where the processor has no wider ones.

TARGET static void NAME(widen)(CResampleRow row, const void *in, float *out)
{
    size_t count = (size_t) row.width * (size_t) row.bands;
    size_t i = 0;
    switch (row.format) {
    case CRESAMPLE_UCHAR:
        for (; i + 8 <= count; i += 8) store(out + i, __builtin_convertvector(*(const bytes8 *) ((const uint8_t *) in + i), floats8));
        for (; i < count; i++) out[i] = ((const uint8_t *) in)[i];
        break;
    case CRESAMPLE_USHORT:
        for (; i + 8 <= count; i += 8) store(out + i, __builtin_convertvector(*(const shorts8 *) ((const uint16_t *) in + i), floats8));
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
            float cover = out[3] / full;
            out[0] *= cover;
            out[1] *= cover;
            out[2] *= cover;
        }
        return;
    }
    for (int x = 0; x < row.width; x++, out += row.bands)
        for (int b = 0; b < row.bands - 1; b++) out[b] *= out[row.bands - 1] / full;
}

TARGET static void NAME(divide_by_alpha)(float *row, int width, int bands, float full)
{
    for (int x = 0; x < width; x++, row += bands) {
        float alpha = row[bands - 1] < full ? row[bands - 1] : full;
        // The filter rings around sharp edges; no alpha is below nothing.
        float factor = alpha > 0 ? full / alpha : 0;
        for (int b = 0; b < bands - 1; b++) row[b] *= factor;
    }
}

TARGET static void NAME(narrow)(CResampleRow row, float *in, void *out)
{
    size_t count = (size_t) row.width * (size_t) row.bands;
    float full = row.format == CRESAMPLE_USHORT ? 65535 : 255;
    if (row.has_alpha) NAME(divide_by_alpha)(in, row.width, row.bands, full);
    if (row.format == CRESAMPLE_FLOAT) {
        memcpy(out, in, count * sizeof(float));
        return;
    }
    const floats8 zero = {0};
    const floats8 top = zero + full;
    for (size_t i = 0; i < count; i += 8) {
        floats8 value = load(in + i) + 0.5f;
        value = __builtin_elementwise_min(__builtin_elementwise_max(value, zero), top);
        ints8 whole = __builtin_convertvector(value, ints8);
        // The last numbers may be fewer than a vector holds, and what follows them is not ours.
        if (row.format == CRESAMPLE_UCHAR) {
            bytes8 bytes = __builtin_convertvector(whole, bytes8);
            if (i + 8 <= count) *(bytes8 *) ((uint8_t *) out + i) = bytes;
            else memcpy((uint8_t *) out + i, &bytes, count - i);
        } else {
            shorts8 shorts = __builtin_convertvector(whole, shorts8);
            if (i + 8 <= count) *(shorts8 *) ((uint16_t *) out + i) = shorts;
            else memcpy((uint16_t *) out + i, &shorts, (count - i) * sizeof(uint16_t));
        }
    }
}

TARGET static void NAME(sum_rows)(float *sum, int adds, const float *rows, size_t stride, const float *weights, int row_count, size_t count)
{
    const floats8 zero = {0};
    for (size_t i = 0; i < count; i += 32) {
        floats8 a = adds ? load(sum + i) : zero;
        floats8 b = adds ? load(sum + i + 8) : zero;
        floats8 c = adds ? load(sum + i + 16) : zero;
        floats8 d = adds ? load(sum + i + 24) : zero;
        const float *row = rows + i;
        for (int k = 0; k < row_count; k++, row += stride) {
            floats8 weight = zero + weights[k];
            a += weight * load(row);
            b += weight * load(row + 8);
            c += weight * load(row + 16);
            d += weight * load(row + 24);
        }
        store(sum + i, a);
        store(sum + i + 8, b);
        store(sum + i + 16, c);
        store(sum + i + 24, d);
    }
}

// The four numbers in the low half: what the eight of one pixel come to, each band for itself.
#define FOLD_1(v)                                                                                                                          \
    ((v) += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3), (v) += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5),           \
     (v) += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6))
#define FOLD_2(v)                                                                                                                          \
    ((v) += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3), (v) += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5))
#define FOLD_3(v) ((v) += __builtin_shufflevector(v, v, 3, 4, 5, 6, 7, 0, 1, 2))
#define FOLD_4(v) ((v) += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3))

// The next pixel overwrites what is too much of this one; behind the last one is padding.
#define KEEP(BANDS, sum, out) (FOLD_##BANDS(sum), *(floats4 *) (out) = __builtin_shufflevector(sum, sum, 0, 1, 2, 3))

#define SCALE_ROWS(BANDS, PIXELS)                                                                                                          \
    TARGET static void NAME(scale_rows_##BANDS)(CResampleTaps taps, const float *const *in, float *const *out)                             \
    {                                                                                                                                      \
        const float *weights = taps.weights;                                                                                               \
        for (int x = 0; x < taps.width; x++) {                                                                                             \
            size_t place = (size_t) taps.starts[x] * BANDS;                                                                                \
            const float *pixel0 = in[0] + place, *pixel1 = in[1] + place, *pixel2 = in[2] + place, *pixel3 = in[3] + place;                \
            floats8 sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};                                                                        \
            for (int v = 0; v < taps.vectors; v++, weights += 8) {                                                                         \
                floats8 weight = load(weights);                                                                                            \
                size_t step = (size_t) v * PIXELS * BANDS;                                                                                 \
                sum0 += weight * load(pixel0 + step);                                                                                      \
                sum1 += weight * load(pixel1 + step);                                                                                      \
                sum2 += weight * load(pixel2 + step);                                                                                      \
                sum3 += weight * load(pixel3 + step);                                                                                      \
            }                                                                                                                              \
            KEEP(BANDS, sum0, out[0] + x * BANDS);                                                                                         \
            KEEP(BANDS, sum1, out[1] + x * BANDS);                                                                                         \
            KEEP(BANDS, sum2, out[2] + x * BANDS);                                                                                         \
            KEEP(BANDS, sum3, out[3] + x * BANDS);                                                                                         \
        }                                                                                                                                  \
    }

SCALE_ROWS(1, 8)
SCALE_ROWS(2, 4)
SCALE_ROWS(3, 2)
SCALE_ROWS(4, 2)

TARGET static void NAME(scale_rows)(CResampleTaps taps, int bands, const float *const *in, float *const *out)
{
    switch (bands) {
    case 1: NAME(scale_rows_1)(taps, in, out); break;
    case 2: NAME(scale_rows_2)(taps, in, out); break;
    case 3: NAME(scale_rows_3)(taps, in, out); break;
    default: NAME(scale_rows_4)(taps, in, out); break;
    }
}

#undef FOLD_1
#undef FOLD_2
#undef FOLD_3
#undef FOLD_4
#undef KEEP
#undef SCALE_ROWS
