// The filters of PNG (chapter 9 of its specification), which turn a row into differences from its neighbours, and the
// choice between them.
#ifndef CPNGFILTER_H
#define CPNGFILTER_H

#include <stddef.h>
#include <stdint.h>

#include "instructions.h"

/// Filters a row by the filter whose differences have the smallest sum, counted as signed bytes: what libpng chooses
/// by, too.
/// - row, above: `count` bytes of a row and of the row above it, which is all zeros for the first one; `step` zeros are
///   in front of both.
/// - step: bytes from a pixel to the next, 1 to 8.
/// - out: gets `count` + 1 bytes: the number of the filter and the differences.
/// - returns: the sum of the differences.
uint64_t cpngfilter_adaptive(
    CInstructions use, const uint8_t *row, const uint8_t *above, size_t count, int step, uint8_t *out);

/// Pixels that are as the one to their left or as the one above, and those that are as both.
typedef struct {
    size_t either, both;
} CPNGRepeats;

/// Counts the pixels of a row that repeat a neighbor.
/// - row, above: `count` bytes each; `above` is null for the first row of a picture, whose pixels repeat none above.
/// - step: bytes from a pixel to the next: 1, 2, 3, 4, 6 or 8.
CPNGRepeats cpngfilter_repeats(const uint8_t *row, const uint8_t *above, size_t count, int step);

/// Undoes a filter: 0 none, 1 left, 2 above, 3 average, 4 Paeth.
/// - row: `count` bytes of differences.
/// - above: the row above as it was, or zeros for the first one.
/// - count: a multiple of `step`.
/// - step: bytes from a pixel to the next: 1, 2, 3, 4, 6 or 8.
/// - out: gets `count` bytes; may be `row`.
void cpngfilter_restore(
    CInstructions use, int filter, const uint8_t *row, const uint8_t *above, size_t count, int step,
    uint8_t *out);

/// Undoes Paeth's filter on two rows at once, which takes half the time.
/// - row, below: differences of a row and of the next one, `count` bytes each, at least one pixel.
/// - above, count, step: as above.
/// - out, out_below: get `count` bytes each; may be `row` and `below`.
void cpngfilter_restore_two(
    CInstructions use, const uint8_t *row, const uint8_t *below, const uint8_t *above, size_t count, int step,
    uint8_t *out, uint8_t *out_below);

/// Numbers of two bytes, the most significant first, as this processor has them.
void cpngfilter_turn_around(const uint8_t *numbers, size_t count, void *out);

#endif
