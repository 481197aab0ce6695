// libjpeg, which libvips brings along: its decoder and its encoder, by rows.
//
// libjpeg comes with one of two interfaces, that of version 6.2 (Debian) or that of version 8 (Ubuntu), which differ in
// the layout of their structures. The program is compiled for both, is linked to neither, and uses the one that libvips
// has loaded.
#ifndef CJPEG_H
#define CJPEG_H

#include <stddef.h>
#include <stdint.h>

/// Whether libvips has loaded a libjpeg with one of the two interfaces.
int cjpeg_is_available(void);

/// A JPEG that is being decoded. For one thread.
typedef struct CJPEGDecoder CJPEGDecoder;

/// A picture of 1 (gray) or 3 bands (RGB) of 8 bits.
typedef struct {
    int width;
    int height;
    int bands;
} CJPEGSize;

/// Reads the header of a regular file, from its beginning. The descriptor stays the caller's, and its position as it
/// is.
/// - shrink: 1, 2, 4 or 8; how many times smaller the picture is to be decoded.
/// - size: gets the size of the decoded picture, sides rounded up.
/// - Returns NULL if there is a fault, or if it is anything but gray or colours in one pass of 8 bits, packed by
///   Huffman's code.
CJPEGDecoder *cjpeg_decoder_open(int descriptor, int shrink, CJPEGSize *size);

/// Decodes the next rows.
/// - width: how many pixels of each row are wanted, from the left.
/// - stride: bytes from one row to the next.
/// - Returns 0; or -1 if there is a fault, even one that libjpeg would only warn of. No more can be read then.
int cjpeg_decoder_read(CJPEGDecoder *decoder, int width, uint8_t *rows, size_t stride, int count);

void cjpeg_decoder_close(CJPEGDecoder *decoder);

/// How a picture is saved.
typedef struct {
    /// 1 to 100
    int quality;
    int is_progressive;
    /// Half as many columns and rows of colours as of luma.
    int halves_colours;
} CJPEGOptions;

/// Writes a file without any metadata at a descriptor's position.
/// - rows: without gaps.
/// - Returns 0, the error number of a write that failed, or -1 if libjpeg cannot do it.
int cjpeg_encode(CJPEGSize size, const uint8_t *rows, CJPEGOptions options, int descriptor);

#endif
