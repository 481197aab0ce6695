#include "cjpeg.h"
#include "interfaces.h"

#include <pthread.h>

static const CJPEGInterface *interface;

static void choose(void)
{
    if (cjpeg_interface_62.fits())
        interface = &cjpeg_interface_62;
    else if (cjpeg_interface_80.fits())
        interface = &cjpeg_interface_80;
}

int cjpeg_is_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return interface != NULL;
}

CJPEGDecoder *cjpeg_decoder_open(int descriptor, int shrink, CJPEGSize *size)
{
    return cjpeg_is_available() ? interface->open(descriptor, shrink, size) : NULL;
}

int cjpeg_decoder_read(CJPEGDecoder *decoder, int width, uint8_t *rows, size_t stride, int count)
{
    return interface->read(decoder, width, rows, stride, count);
}

void cjpeg_decoder_close(CJPEGDecoder *decoder) { interface->close(decoder); }

int cjpeg_encode(CJPEGSize size, const uint8_t *rows, CJPEGOptions options, int descriptor)
{
    return cjpeg_is_available() ? interface->encode(size, rows, options, descriptor) : -1;
}
