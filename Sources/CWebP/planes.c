#include "cwebp.h"
#include "instructions.h"
#include "resample.h"

#include <stdlib.h>
#include <string.h>

// Floats of a row that are widened at once, and the room for them.
enum { STRIP = CRESAMPLE_MEANS, ROOM = STRIP + CRESAMPLE_PADDING };

/// A row of means, at the edges of the pixels that there are.
/// - floats: room for nine rows of a strip.
static void shrink_row(
    const uint8_t *plane, int stride, int width, int height, int shrink, int y, float *floats, uint8_t *means)
{
    const int first = y * shrink, rows = height - first < shrink ? height - first : shrink;
    const CInstructions use = cinstructions_best();
    float *result = floats + 8 * ROOM;
    if (shrink == 1) {
        memcpy(means, plane + (size_t) stride * (size_t) y, (size_t) width);
        return;
    }
    for (int x = 0; x < width; x += STRIP) {
        const CResampleRow row = {CRESAMPLE_UCHAR, width - x < STRIP ? width - x : STRIP, 1, 0};
        for (int i = 0; i < rows; i++)
            cresample_widen(use, row, plane + (size_t) stride * (size_t) (first + i) + x, floats + i * ROOM);
        cresample_mean_rows(use, floats, ROOM, rows, shrink, 1, row.width, result);
        // Half a step is rounded up, also where a division by 3, 5 or 7 is a little too small.
        for (int i = 0; i < (row.width + shrink - 1) / shrink; i++)
            means[x / shrink + i] = (uint8_t) (result[i] + 0.501f);
    }
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
    float *floats = malloc(sizeof(float) * 9 * ROOM);
    uint8_t *means = malloc(3 * (size_t) (count + 1));
    if (floats && means) {
        uint8_t *luma = means, *u = luma + count + 1, *v = u + count + 1;
        for (int y = 0; y < rows; y++) {
            shrink_row(planes->y, planes->y_stride, width, height, shrink, y, floats, luma);
            shrink_row(planes->u, planes->u_stride, columns, colour_rows, colour_shrink, y, floats, u);
            shrink_row(planes->v, planes->v_stride, columns, colour_rows, colour_shrink, y, floats, v);
            convert(luma, u, v, rgb + 3 * (size_t) count * (size_t) y, count);
        }
    }
    const int failed = !floats || !means;
    free(floats);
    free(means);
    return failed ? -1 : 0;
}
