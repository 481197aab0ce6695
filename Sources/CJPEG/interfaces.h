// The same functions for each interface of libjpeg.
#ifndef INTERFACES_H
#define INTERFACES_H

#include "cjpeg.h"

typedef struct {
    /// Whether the libjpeg that is loaded has this interface.
    int (*fits)(void);
    CJPEGDecoder *(*open)(int descriptor, int shrink, CJPEGSize *size);
    int (*read)(CJPEGDecoder *decoder, int width, uint8_t *rows, size_t stride, int count);
    void (*close)(CJPEGDecoder *decoder);
    int (*encode)(CJPEGSize size, const uint8_t *rows, CJPEGOptions options, int descriptor);
} CJPEGInterface;

extern const CJPEGInterface cjpeg_interface_62, cjpeg_interface_80;

#endif
