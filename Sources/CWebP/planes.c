#include "cwebp.h"
#include "instructions.h"

#include <stdlib.h>

/// Adds a row to sums.
EACH_TARGET static void add(const uint8_t *row, uint16_t *sums, int count, int isFirst)
{
    if (isFirst)
        for (int i = 0; i < count; i++) sums[i] = row[i];
    else
        for (int i = 0; i < count; i++) sums[i] = (uint16_t) (sums[i] + row[i]);
}

/// Adds neighbours, two and two. Sums of 8 × 8 bytes have 14 bits.
EACH_TARGET static void join(uint16_t *sums, int pairs)
{
    for (int i = 0; i < pairs; i++) sums[i] = (uint16_t) (sums[2 * i] + sums[2 * i + 1]);
}

EACH_TARGET static void divide(const uint16_t *sums, int shift, uint8_t *means, int count)
{
    const int half = 1 << shift >> 1;
    for (int i = 0; i < count; i++) means[i] = (uint8_t) ((sums[i] + half) >> shift);
}

static uint8_t mean(int sum, int count) { return (uint8_t) ((sum + count / 2) / count); }

/// A row of means, at the edges of the pixels that there are. `sums` has room for the row and `shrink` more.
static void shrink_row(
    const uint8_t *plane, int stride, int width, int height, int shrink, int y, uint16_t *sums, uint8_t *means)
{
    int shift = 0, count = (width + shrink - 1) / shrink, first = y * shrink;
    const int rows = height - first < shrink ? height - first : shrink, last = width - (count - 1) * shrink;
    for (int row = first; row < first + rows; row++)
        add(plane + (size_t) stride * (size_t) row, sums, width, row == first);
    for (int x = width; x < count * shrink; x++) sums[x] = 0;
    for (int left = shrink; left > 1; left /= 2, shift += 2) join(sums, count * left / 2);
    if (rows == shrink)
        divide(sums, shift, means, count);
    else
        for (int i = 0; i < count; i++) means[i] = mean(sums[i], rows * shrink);
    means[count - 1] = mean(sums[count - 1], rows * last);
}

/// A value times a factor of the colour matrix, in fractions of 1/16384, as libwebp calculates.
static inline int scaled(int value, int factor) { return value * factor >> 8; }

static inline uint8_t limited(int value)
{
    value >>= 6;
    return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

/// Y'CbCr of ITU-R BT.601 with its reduced range, as the format has it, in libwebp's whole numbers.
EACH_TARGET static void convert(const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *rgb, int count)
{
    for (int i = 0; i < count; i++) {
        const int luma = scaled(y[i], 19077);
        rgb[3 * i] = limited(luma + scaled(v[i], 26149) - 14234);
        rgb[3 * i + 1] = limited(luma - scaled(u[i], 6419) - scaled(v[i], 13320) + 8708);
        rgb[3 * i + 2] = limited(luma + scaled(u[i], 33050) - 17685);
    }
}

int cwebp_shrink_planes(const WebPYUVABuffer *planes, int width, int height, int shrink, uint8_t *rgb)
{
    const int count = (width + shrink - 1) / shrink, rows = (height + shrink - 1) / shrink;
    const int columns = (width + 1) / 2, colour_rows = (height + 1) / 2, colour_shrink = shrink / 2;
    uint16_t *sums = malloc(sizeof(uint16_t) * (size_t) (width + shrink));
    uint8_t *means = malloc(3 * (size_t) (count + 1));
    if (sums && means) {
        uint8_t *luma = means, *u = luma + count + 1, *v = u + count + 1;
        for (int y = 0; y < rows; y++) {
            shrink_row(planes->y, planes->y_stride, width, height, shrink, y, sums, luma);
            shrink_row(planes->u, planes->u_stride, columns, colour_rows, colour_shrink, y, sums, u);
            shrink_row(planes->v, planes->v_stride, columns, colour_rows, colour_shrink, y, sums, v);
            convert(luma, u, v, rgb + 3 * (size_t) count * (size_t) y, count);
        }
    }
    const int failed = !sums || !means;
    free(sums);
    free(means);
    return failed ? -1 : 0;
}
