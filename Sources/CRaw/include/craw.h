// LibRaw, which reads the files of cameras: the preview in them, and what the sensor has measured.
//
// It is loaded while the program runs, by those who read such files. Its functions take a pointer to a structure that
// each version lays out in another way; only functions are used, and two fields that are found beside others.
#ifndef CRAW_H
#define CRAW_H

#include <stddef.h>
#include <stdint.h>

/// Loads LibRaw 0.20 or newer, once. For one thread.
/// - Returns its version, such as 5122 for 0.20.2; 0 if there is none.
int craw_load(void);

/// A file of a camera that was opened. For one thread.
typedef struct CRaw CRaw;

typedef struct {
    /// Pixels of the developed picture, upright, not halved.
    int width;
    int height;
    /// The sensor's measurements, with the margins around the picture.
    int sensor_width;
    int sensor_height;
    /// Each 2 × 2 places of the sensor can become one pixel.
    int can_be_halved;
    /// Seconds since 1970 by a clock whose zone is the system's; 0 if it is not known.
    int64_t taken;
} CRawHeader;

/// Reads the header of a file.
/// - bytes: must stay until it is closed.
/// - Returns NULL if there is a fault.
CRaw *craw_open(const uint8_t *bytes, size_t count, CRawHeader *header, int *fault);

/// Faults: LibRaw does not know such files, and it got no memory. Others are of the file.
enum { CRAW_UNSUPPORTED = -2, CRAW_OUT_OF_MEMORY = -100007 };

/// The preview that LibRaw chooses, which is the largest, if it is a JPEG. One that does not begin with EXIF has got
/// some that says which way is up.
/// - Returns NULL if there is none. The bytes stay until the next call or until it is closed.
const uint8_t *craw_preview(CRaw *raw, size_t *count);

/// A picture of 8 bits in sRGB, rows without gaps.
typedef struct {
    int width;
    int height;
    int bands;
    const uint8_t *pixels;
} CRawPicture;

/// Develops the picture, upright, with the camera's white balance.
/// - halves: makes one pixel of 2 × 2 places.
/// - Returns 0; another number if there is a fault. The pixels stay until the next call or until it is closed.
int craw_develop(CRaw *raw, int halves, CRawPicture *picture);

/// Frees what the last call has given, and all that LibRaw holds but for the file itself.
void craw_forget_result(CRaw *raw);

void craw_close(CRaw *raw);

#endif
