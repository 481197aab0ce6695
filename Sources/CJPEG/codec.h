// The decoder and the encoder for one interface of libjpeg; INTERFACE_VERSION says which.
#define _GNU_SOURCE

#include "interfaces.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jconfig.h>
// The headers are those of one interface; this makes them those of the other.
#define JCONFIG_INCLUDED
#undef JPEG_LIB_VERSION
#define JPEG_LIB_VERSION INTERFACE_VERSION
#include <jerror.h>
#include <jpeglib.h>

// Bytes at once. Where three kilobytes and more are before it, libjpeg decodes faster and passes over wrong bits
// without a word. So it gets the same parts of a file as from libvips, and notices the same, for 2 % of the time.
enum { READ_AT_ONCE = 1 << 12, WRITTEN_AT_ONCE = 1 << 16 };

#define FUNCTIONS(F) \
    F(jpeg_std_error) F(jpeg_CreateDecompress) F(jpeg_destroy_decompress) F(jpeg_read_header) \
    F(jpeg_has_multiple_scans) F(jpeg_start_decompress) \
    F(jpeg_read_scanlines) F(jpeg_resync_to_restart) F(jpeg_CreateCompress) F(jpeg_destroy_compress) \
    F(jpeg_set_defaults) F(jpeg_set_quality) F(jpeg_simple_progression) F(jpeg_start_compress) F(jpeg_write_scanlines) \
    F(jpeg_finish_compress)

// libjpeg's functions, found while the program runs.
static struct {
#define POINTER(name) __typeof__(name) *name;
    FUNCTIONS(POINTER)
} lib;

/// The beginning of what decodes and of what encodes: libjpeg's own handlers would print to the terminal and end the
/// process.
typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf fault;
} Trap;

static void fail(j_common_ptr jpeg) { longjmp(((Trap *) jpeg->err)->fault, 1); }

static void message(j_common_ptr jpeg, int level)
{
    if (level < 0) fail(jpeg);
}

static void print(j_common_ptr jpeg) { (void) jpeg; }

static struct jpeg_error_mgr *trap(Trap *trap)
{
    struct jpeg_error_mgr *errors = lib.jpeg_std_error(&trap->errors);
    errors->error_exit = fail;
    errors->emit_message = message;
    errors->output_message = print;
    return errors;
}

// MARK: - Decoder

typedef struct {
    Trap trap;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_source_mgr source;
    int descriptor;
    /// The position in the file at which the buffer ends.
    off_t position;
    JOCTET buffer[READ_AT_ONCE];
    /// Room for a row.
    JSAMPLE *row;
} Decoder;

static void begin_source(j_decompress_ptr jpeg) { (void) jpeg; }

static boolean fill(j_decompress_ptr jpeg)
{
    Decoder *decoder = jpeg->client_data;
    // Parts begin at multiples of their size, also after something was skipped.
    const size_t wanted = READ_AT_ONCE - (size_t) (decoder->position % READ_AT_ONCE);
    ssize_t count;
    do count = pread(decoder->descriptor, decoder->buffer, wanted, decoder->position);
    while (count < 0 && errno == EINTR);
    if (count <= 0) fail((j_common_ptr) jpeg);
    decoder->position += count;
    jpeg->src->next_input_byte = decoder->buffer;
    jpeg->src->bytes_in_buffer = (size_t) count;
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count)
{
    Decoder *decoder = jpeg->client_data;
    if (count <= 0) return;
    if ((size_t) count <= jpeg->src->bytes_in_buffer) {
        jpeg->src->next_input_byte += count;
        jpeg->src->bytes_in_buffer -= (size_t) count;
    } else {
        decoder->position += count - (long) jpeg->src->bytes_in_buffer;
        jpeg->src->bytes_in_buffer = 0;
    }
}

static void end_source(j_decompress_ptr jpeg) { (void) jpeg; }

static void close_decoder(CJPEGDecoder *opaque)
{
    Decoder *decoder = (Decoder *) opaque;
    lib.jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder->row);
    free(decoder);
}

static CJPEGDecoder *open_decoder(int descriptor, int shrink, CJPEGSize *size)
{
    // Cleared: closing it is harmless, however little of it was made.
    Decoder *decoder = calloc(1, sizeof(Decoder));
    if (!decoder) return NULL;
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg->err = trap(&decoder->trap);
    if (setjmp(decoder->trap.fault)) {
        close_decoder((CJPEGDecoder *) decoder);
        return NULL;
    }
    lib.jpeg_CreateDecompress(jpeg, JPEG_LIB_VERSION, sizeof(*jpeg));
    decoder->descriptor = descriptor;
    decoder->source = (struct jpeg_source_mgr) {
        .init_source = begin_source, .fill_input_buffer = fill, .skip_input_data = skip,
        .resync_to_restart = lib.jpeg_resync_to_restart,
        .term_source = end_source,
    };
    jpeg->src = &decoder->source;
    jpeg->client_data = decoder;
    lib.jpeg_read_header(jpeg, TRUE);
    const int is_gray = jpeg->num_components == 1 && jpeg->out_color_space == JCS_GRAYSCALE;
    const int is_colour = jpeg->num_components == 3 && jpeg->out_color_space == JCS_RGB;
    // Several passes would have to be kept as a whole.
    if ((!is_gray && !is_colour) || jpeg->data_precision != 8 || jpeg->arith_code || lib.jpeg_has_multiple_scans(jpeg))
        fail((j_common_ptr) jpeg);
    jpeg->scale_num = 1;
    jpeg->scale_denom = (unsigned int) shrink;
    lib.jpeg_start_decompress(jpeg);
    decoder->row = malloc((size_t) jpeg->output_width * (size_t) jpeg->output_components);
    if (!decoder->row) fail((j_common_ptr) jpeg);
    *size = (CJPEGSize) {(int) jpeg->output_width, (int) jpeg->output_height, jpeg->output_components};
    return (CJPEGDecoder *) decoder;
}

static int read_rows(CJPEGDecoder *opaque, int width, uint8_t *rows, size_t stride, int count)
{
    Decoder *decoder = (Decoder *) opaque;
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const size_t wanted = (size_t) width * (size_t) jpeg->output_components;
    const size_t made = (size_t) jpeg->output_width * (size_t) jpeg->output_components;
    if (made < wanted || stride < wanted) return -1;
    if (setjmp(decoder->trap.fault)) return -1;
    for (int y = 0; y < count; y++) {
        uint8_t *row = rows + stride * (size_t) y;
        // The bytes after the wanted ones may lie where the next row goes.
        const int has_room = made == wanted || (y + 1 < count && made <= stride + wanted);
        JSAMPROW place = has_room ? row : decoder->row;
        if (lib.jpeg_read_scanlines(jpeg, &place, 1) != 1) return -1;
        if (!has_room) memcpy(row, decoder->row, wanted);
    }
    return 0;
}

// MARK: - Encoder

typedef struct {
    Trap trap;
    struct jpeg_compress_struct jpeg;
    struct jpeg_destination_mgr destination;
    int descriptor;
    /// The error number of a write that failed, or -1.
    int error;
    JOCTET buffer[WRITTEN_AT_ONCE];
} Encoder;

static void write_out(Encoder *encoder, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t written = write(encoder->descriptor, encoder->buffer + done, count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            encoder->error = written < 0 ? errno : EIO;
            longjmp(encoder->trap.fault, 1);
        }
        done += (size_t) written;
    }
    encoder->destination.next_output_byte = encoder->buffer;
    encoder->destination.free_in_buffer = WRITTEN_AT_ONCE;
}

static void begin_destination(j_compress_ptr jpeg) { write_out(jpeg->client_data, 0); }

static boolean empty(j_compress_ptr jpeg)
{
    write_out(jpeg->client_data, WRITTEN_AT_ONCE);
    return TRUE;
}

static void end_destination(j_compress_ptr jpeg)
{
    write_out(jpeg->client_data, WRITTEN_AT_ONCE - jpeg->dest->free_in_buffer);
}

static void encode_rows(Encoder *encoder, CJPEGSize size, const uint8_t *rows, CJPEGOptions options)
{
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    lib.jpeg_CreateCompress(jpeg, JPEG_LIB_VERSION, sizeof(*jpeg));
    encoder->destination = (struct jpeg_destination_mgr) {
        .init_destination = begin_destination, .empty_output_buffer = empty, .term_destination = end_destination,
    };
    jpeg->dest = &encoder->destination;
    jpeg->client_data = encoder;
    jpeg->image_width = (JDIMENSION) size.width;
    jpeg->image_height = (JDIMENSION) size.height;
    jpeg->input_components = size.bands;
    jpeg->in_color_space = size.bands == 1 ? JCS_GRAYSCALE : JCS_RGB;
    lib.jpeg_set_defaults(jpeg);
    lib.jpeg_set_quality(jpeg, options.quality, TRUE);
    // As libvips does for files without metadata.
    jpeg->write_JFIF_header = FALSE;
    if (options.is_progressive) lib.jpeg_simple_progression(jpeg);
    if (!options.halves_colours) jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = 1;
    lib.jpeg_start_compress(jpeg, TRUE);
    const size_t stride = (size_t) size.width * (size_t) size.bands;
    while (jpeg->next_scanline < jpeg->image_height) {
        JSAMPROW row = (JSAMPROW) (rows + stride * jpeg->next_scanline);
        lib.jpeg_write_scanlines(jpeg, &row, 1);
    }
    lib.jpeg_finish_compress(jpeg);
}

static int encode(CJPEGSize size, const uint8_t *rows, CJPEGOptions options, int descriptor)
{
    // Cleared: destroying it is harmless, however little of it was made.
    Encoder *encoder = calloc(1, sizeof(Encoder));
    if (!encoder) return -1;
    encoder->jpeg.err = trap(&encoder->trap);
    encoder->descriptor = descriptor;
    encoder->error = -1;
    if (setjmp(encoder->trap.fault) == 0) {
        encode_rows(encoder, size, rows, options);
        encoder->error = 0;
    }
    const int error = encoder->error;
    lib.jpeg_destroy_compress(&encoder->jpeg);
    free(encoder);
    return error;
}

// MARK: - Choice

static int fits(void)
{
#define FIND(name) \
    lib.name = (__typeof__(name) *) dlsym(RTLD_DEFAULT, #name); \
    if (!lib.name) return 0;
    FUNCTIONS(FIND)
    // libjpeg compares the version and the size of the structure, and fails if they are not its own.
    Trap errors;
    struct jpeg_decompress_struct jpeg = {.err = trap(&errors)};
    if (setjmp(errors.fault)) return 0;
    lib.jpeg_CreateDecompress(&jpeg, JPEG_LIB_VERSION, sizeof(jpeg));
    lib.jpeg_destroy_decompress(&jpeg);
    return 1;
}

const CJPEGInterface INTERFACE = {fits, open_decoder, read_rows, close_decoder, encode};
