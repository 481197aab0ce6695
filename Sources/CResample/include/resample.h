// The inner loops of scaling a picture: rows of interleaved floats, weighted and summed. The arithmetic alone; which rows, which
// weights and where the memory comes from is decided in Sources/Vips/Resampling.
//
// Rows of floats are padded: CRESAMPLE_PADDING finite floats may be read and written behind the last one.
#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define CRESAMPLE_PADDING 32

// How the numbers of a picture are stored.
typedef enum {
    CRESAMPLE_UCHAR,
    CRESAMPLE_USHORT,
    CRESAMPLE_FLOAT
} CResampleFormat;

// The instructions that the loops are compiled for.
typedef enum {
    CRESAMPLE_BASELINE,
    CRESAMPLE_AVX2
} CResampleInstructions;

// The best that this processor has.
CResampleInstructions cresample_best_instructions(void);

// A row of a picture, as stored.
typedef struct {
    CResampleFormat format;
    int width;
    int bands;
    // The last band is alpha, by which the others are multiplied while they are floats. Not for CRESAMPLE_FLOAT, whose range is unknown.
    int has_alpha;
} CResampleRow;

// Widens a row to floats.
void cresample_widen(CResampleInstructions use, CResampleRow row, const void *in, float *out);

// Narrows floats to a row: divided by alpha, rounded, cut to the range of the format. Changes the floats.
void cresample_narrow(CResampleInstructions use, CResampleRow row, float *in, void *out);

// sum = (adds ? sum : 0) + Σ weights[k] × rows[k], over `count` floats and as many more as fill a vector.
void cresample_sum_rows(
    CResampleInstructions use, float *sum, int adds, const float *rows, size_t stride, const float *weights, int row_count, size_t count);

// Where each pixel of a scaled row comes from.
typedef struct {
    // The first pixel that counts, for each pixel of the result.
    const int32_t *starts;
    // `vectors` times 8 weights for each pixel of the result, each weight as often as a pixel has bands. A vector covers
    // cresample_pixels_per_vector(bands) pixels; what is left over is 0.
    const float *weights;
    int vectors;
    int width;
} CResampleTaps;

// 8, 4, 2, 2 for 1, 2, 3, 4 bands.
int cresample_pixels_per_vector(int bands);

// How many rows are scaled at once, so that each weight is fetched once for all of them.
#define CRESAMPLE_ROWS 4

// Scales CRESAMPLE_ROWS rows of 1 to 4 bands. The same row may be in several places; its result is then the same too.
void cresample_scale_rows(CResampleInstructions use, CResampleTaps taps, int bands, const float *const *in, float *const *out);

#endif
