// libwebp, which libvips brings along, and how a smaller picture is made of the planes that it decodes.
#ifndef CWEBP_H
#define CWEBP_H

#include <stdint.h>

#include <webp/decode.h>
#include <webp/demux.h>

/// Makes RGB of a picture's planes, shrunk: each pixel is the mean of `shrink` × `shrink`, or of the fewer that are
/// left at the edges.
/// - planes: luma, and two planes of colour with half as many columns and rows, rounded up.
/// - width, height: of the luma.
/// - shrink: 2, 4 or 8.
/// - rgb: gets ceil(width / shrink) × ceil(height / shrink) pixels without gaps.
/// - Returns 0, or -1 if there is no memory.
int cwebp_shrink_planes(const WebPYUVABuffer *planes, int width, int height, int shrink, uint8_t *rgb);

#endif
