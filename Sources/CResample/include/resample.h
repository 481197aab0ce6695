// The inner loops of scaling a picture: rows of interleaved floats, weighted and summed. The arithmetic alone; which
// rows, which weights and where the memory comes from is decided in Sources/Vips/Resampling.
//
// Rows of floats are padded: CRESAMPLE_PADDING floats may be read and written after the last one. They may be anything.
#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "instructions.h"

#define CRESAMPLE_PADDING 64

// How the numbers of a picture are stored.
typedef enum {
    CRESAMPLE_UCHAR,
    CRESAMPLE_USHORT,
    CRESAMPLE_FLOAT
} CResampleFormat;

// A row of a picture, as stored.
typedef struct {
    CResampleFormat format;
    int width;
    int bands;
    // The last band is alpha, by which the others are multiplied while they are floats. Not for CRESAMPLE_FLOAT, whose
    // range is unknown.
    int has_alpha;
} CResampleRow;

// Widens a row to floats.
void cresample_widen(CInstructions use, CResampleRow row, const void *in, float *out);

// sum = (adds ? sum : 0) + Σ weights[k] × rows[k], over `count` floats and as many more as fill a vector.
void cresample_sum_rows(
    CInstructions use, float *sum, int adds, const float *rows, size_t stride, const float *weights,
    int row_count, size_t count);

// Floats of a row that means are made of at once.
#define CRESAMPLE_MEANS 384

// Means of shrink × shrink pixels: of 1 to `shrink` rows, and of fewer columns for the last one if there are no more.
// - shrink: 2, 4 or 8.
// - pixels: in each row, of 1 to 5 bands; at most CRESAMPLE_MEANS floats.
// - out: gets one mean for each `shrink` pixels, rounded up; not one of the rows.
void cresample_mean_rows(
    CInstructions use, const float *rows, size_t stride, int row_count, int shrink, int bands, int pixels,
    float *out);

// Where each pixel of a scaled row comes from.
typedef struct {
    // The first pixel that counts, for each pixel of the result; never less than for the one before.
    const int32_t *starts;
    // Where its weights begin; after the last ones, where they end.
    const int32_t *places;
    const float *weights;
    // Pixels of the source that the scratch has room for: as many as one pixel of the result needs, or more.
    int columns;
} CResampleTaps;

// How many rows are scaled at once, each in a lane of its own.
#define CRESAMPLE_ROWS 16

// How many pixels of the result are made before they are stored.
#define CRESAMPLE_PIXELS 64

// Scales CRESAMPLE_ROWS rows of 1 to 5 bands, and stores them: divided by alpha, rounded, cut to the range of the
// format.
// - row: what a row of the result is stored as.
// - in, out: one pointer for each row. Several may point to the same row.
// - scratch: (columns × bands + CRESAMPLE_PADDING) × CRESAMPLE_ROWS floats.
void cresample_scale_rows(
    CInstructions use, CResampleTaps taps, CResampleRow row, const float *const *in, void *const *out,
    float *scratch);

// Turns or mirrors a picture: the pixel (x, y) of the result is the one at `first` + x × across + y × down.
// - first: inside of the picture, where the result's first pixel is.
// - across, down: in bytes.
// - pixel: bytes of one.
// - out: width × height pixels without gaps.
void cresample_turn(
    const void *first, ptrdiff_t across, ptrdiff_t down, int pixel, int width, int height, void *out);

#endif
