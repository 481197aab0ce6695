#include "craw.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// https://www.libraw.org/docs/API-C.html; the structure itself is opaque here.
typedef void LibRaw;

enum { OLDEST_VERSION = 20 << 8, NO_MESSAGES = 3, JPEG = 1, BITMAP = 2, SRGB = 1 };

// The beginning of `libraw_iparams_t`, as it is from 0.20 on.
typedef struct {
    char guard[4];
    char make[64], model[64], software[64], normalized_make[64], normalized_model[64];
    unsigned maker, pictures, dng, is_foveon;
    int colors;
    unsigned filters;
} Camera;

// The beginning of `libraw_imgother_t`.
typedef struct {
    float speed, shutter, aperture, focal_length;
    time_t time;
} Circumstances;

// `libraw_processed_image_t`.
typedef struct {
    int type;
    uint16_t height, width, colors, bits;
    unsigned size;
    uint8_t data[];
} Result;

static struct {
    int version;
    LibRaw *(*init)(unsigned flags);
    void (*close)(LibRaw *);
    void (*recycle)(LibRaw *);
    int (*open)(LibRaw *, const void *, size_t);
    int (*find_sizes)(LibRaw *);
    int (*unpack)(LibRaw *);
    int (*unpack_preview)(LibRaw *);
    int (*process)(LibRaw *);
    Result *(*make_picture)(LibRaw *, int *);
    Result *(*make_preview)(LibRaw *, int *);
    void (*release)(Result *);
    void (*set_fault_handler)(LibRaw *, void (*)(void *, const char *, long), void *);
    void (*set_gamma)(LibRaw *, int, float);
    void (*set_brightness)(LibRaw *, float);
    void (*set_highlight)(LibRaw *, int);
    void (*set_color)(LibRaw *, int);
    void (*set_depth)(LibRaw *, int);
    int (*width)(LibRaw *), (*height)(LibRaw *), (*sensor_width)(LibRaw *), (*sensor_height)(LibRaw *);
    const Camera *(*camera)(LibRaw *);
    const Circumstances *(*circumstances)(LibRaw *);
    // Of libgomp; NULL if LibRaw was built without it.
    void (*set_threads)(int);
    // Where fields are in the structure.
    size_t half_size, use_camera_wb;
} library;

static void *opened(void)
{
    // Ubuntu and Debian from 0.20 (12) on.
    static const char *const names[] = {"libraw.so.25", "libraw.so.24", "libraw.so.23", "libraw.so.22", "libraw.so.20"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (found)
            return found;
    }
    return NULL;
}

// No function sets `half_size` and `use_camera_wb`. In all versions they are beside two fields that have one, in
// numbers of four bytes: `bright`, `threshold`, `half_size`, `four_color_rgb`, `highlight`, `use_auto_wb`,
// `use_camera_wb`.
static int find_fields(void)
{
    enum { ENOUGH = 1 << 16 };
    static const float bright = 0x1.234568p-1f;
    static const int highlight = 0x5a3c7e1d;
    LibRaw *raw = library.init(0);
    if (!raw)
        return -1;
    library.set_brightness(raw, bright);
    library.set_highlight(raw, highlight);
    const uint8_t *bytes = raw;
    // The structure is larger than that in all versions.
    for (size_t at = 0; at < ENOUGH && !library.half_size; at += 4) {
        if (memcmp(bytes + at, &bright, 4) == 0 && memcmp(bytes + at + 16, &highlight, 4) == 0) {
            library.half_size = at + 8;
            library.use_camera_wb = at + 24;
        }
    }
    library.close(raw);
    return library.half_size ? 0 : -1;
}

static void set_field(LibRaw *raw, size_t place, int value) { memcpy((uint8_t *)raw + place, &value, sizeof value); }

static int find(void *handle)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"libraw_init", &library.init},
        {"libraw_close", &library.close},
        {"libraw_recycle", &library.recycle},
        {"libraw_open_buffer", &library.open},
        {"libraw_adjust_sizes_info_only", &library.find_sizes},
        {"libraw_unpack", &library.unpack},
        {"libraw_unpack_thumb", &library.unpack_preview},
        {"libraw_dcraw_process", &library.process},
        {"libraw_dcraw_make_mem_image", &library.make_picture},
        {"libraw_dcraw_make_mem_thumb", &library.make_preview},
        {"libraw_dcraw_clear_mem", &library.release},
        {"libraw_set_dataerror_handler", &library.set_fault_handler},
        {"libraw_set_gamma", &library.set_gamma},
        {"libraw_set_bright", &library.set_brightness},
        {"libraw_set_highlight", &library.set_highlight},
        {"libraw_set_output_color", &library.set_color},
        {"libraw_set_output_bps", &library.set_depth},
        {"libraw_get_iwidth", &library.width},
        {"libraw_get_iheight", &library.height},
        {"libraw_get_raw_width", &library.sensor_width},
        {"libraw_get_raw_height", &library.sensor_height},
        {"libraw_get_iparams", &library.camera},
        {"libraw_get_imgother", &library.circumstances},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(handle, functions[i].name);
        if (!function)
            return -1;
        memcpy(functions[i].function, &function, sizeof function);
    }
    return 0;
}

int craw_load(void)
{
    static int is_done;
    if (is_done)
        return library.version;
    is_done = 1;
    void *handle = opened();
    if (handle)
        *(void **)&library.set_threads = dlsym(handle, "omp_set_num_threads");
    int (*version)(void) = NULL;
    if (handle)
        *(void **)&version = dlsym(handle, "libraw_versionNumber");
    if (version && version() >= OLDEST_VERSION && find(handle) == 0 && find_fields() == 0)
        library.version = version();
    return library.version;
}

struct CRaw {
    LibRaw *raw;
    const uint8_t *bytes;
    size_t count;
    Result *result;
    int has_fault;
};

static void release_result(CRaw *raw)
{
    if (raw->result)
        library.release(raw->result);
    raw->result = NULL;
}

// LibRaw says so of damaged and missing data, and goes on.
static void note_fault(void *raw, const char *file, long place)
{
    (void)file;
    (void)place;
    ((CRaw *)raw)->has_fault = 1;
}

CRaw *craw_open(const uint8_t *bytes, size_t count, CRawHeader *header, int *fault)
{
    *fault = CRAW_UNSUPPORTED;
    if (!craw_load())
        return NULL;
    // A worker is one of as many as there are cores. libgomp may have been loaded before, by another library, so that
    // it looks at no variable any more; and it counts for each thread.
    if (library.set_threads)
        library.set_threads(1);
    *fault = CRAW_OUT_OF_MEMORY;
    CRaw *raw = calloc(1, sizeof *raw);
    if (!raw)
        return NULL;
    *raw = (CRaw){.raw = library.init(NO_MESSAGES), .bytes = bytes, .count = count};
    if (raw->raw)
        library.set_fault_handler(raw->raw, note_fault, raw);
    if (raw->raw)
        *fault = library.open(raw->raw, bytes, count);
    if (*fault == 0)
        *fault = library.find_sizes(raw->raw);
    if (*fault != 0) {
        craw_close(raw);
        return NULL;
    }
    const Camera *camera = library.camera(raw->raw);
    *header = (CRawHeader){
        .width = library.width(raw->raw),
        .height = library.height(raw->raw),
        .sensor_width = library.sensor_width(raw->raw),
        .sensor_height = library.sensor_height(raw->raw),
        .can_be_halved = camera->filters != 0,
        .taken = library.circumstances(raw->raw)->time,
    };
    return raw;
}

const uint8_t *craw_preview(CRaw *raw, size_t *count)
{
    release_result(raw);
    int fault = 0;
    if (library.unpack_preview(raw->raw) != 0)
        return NULL;
    raw->result = library.make_preview(raw->raw, &fault);
    if (!raw->result || raw->result->type != JPEG)
        return NULL;
    *count = raw->result->size;
    return raw->result->data;
}

int craw_develop(CRaw *raw, int halves, CRawPicture *picture)
{
    release_result(raw);
    // Settings are of use before a file is opened, and sizes are found only once.
    library.recycle(raw->raw);
    set_field(raw->raw, library.half_size, halves);
    set_field(raw->raw, library.use_camera_wb, 1);
    int fault = library.open(raw->raw, raw->bytes, raw->count);
    if (fault != 0)
        return fault;
    library.set_color(raw->raw, SRGB);
    library.set_depth(raw->raw, 8);
    // The curve of sRGB.
    library.set_gamma(raw->raw, 0, 1 / 2.4f);
    library.set_gamma(raw->raw, 1, 12.92f);
    raw->has_fault = 0;
    fault = library.unpack(raw->raw);
    if (fault != 0 || raw->has_fault)
        return fault ? fault : -1;
    fault = library.process(raw->raw);
    if (fault != 0)
        return fault;
    raw->result = library.make_picture(raw->raw, &fault);
    if (!raw->result || fault != 0)
        return fault ? fault : -1;
    const Result *result = raw->result;
    size_t row = (size_t)result->width * result->colors;
    if (result->type != BITMAP || result->bits != 8 || (result->colors != 1 && result->colors != 3)
        || result->size < row * result->height)
        return -1;
    *picture = (CRawPicture){
        .width = result->width, .height = result->height, .bands = result->colors, .pixels = result->data};
    return 0;
}

void craw_forget_result(CRaw *raw)
{
    release_result(raw);
    library.recycle(raw->raw);
}

void craw_close(CRaw *raw)
{
    release_result(raw);
    if (raw->raw)
        library.close(raw->raw);
    free(raw);
}
