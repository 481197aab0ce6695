// The one door to libvips and GLib. Swift cannot call variadic C functions or expand GObject's macros, so each function
// here is one such call. Nothing here keeps state, and nothing here decides anything: that is the work of the target
// Vips.
#ifndef CVIPS_SHIMS_H
#define CVIPS_SHIMS_H

#include <vips/vips.h>
#include <vips/vector.h>

// The kind of value that an operation's argument takes, read from its GParamSpec.
typedef enum {
    CVIPS_KIND_BOOL,
    CVIPS_KIND_INT,
    CVIPS_KIND_DOUBLE,
    CVIPS_KIND_STRING,
    CVIPS_KIND_ENUM,
    CVIPS_KIND_IMAGE,
    CVIPS_KIND_SOURCE,
    CVIPS_KIND_TARGET,
    CVIPS_KIND_INTERPOLATE,
    CVIPS_KIND_ARRAY_INT,
    CVIPS_KIND_ARRAY_DOUBLE,
    CVIPS_KIND_ARRAY_IMAGE,
    CVIPS_KIND_OTHER
} CVipsKind;

typedef struct {
    CVipsKind kind;
    GType type;
    gboolean input;
    gboolean required;
    double minimum;
    double maximum;
} CVipsParameter;

static inline CVipsKind cvips_kind(GParamSpec *pspec)
{
    GType type = G_PARAM_SPEC_VALUE_TYPE(pspec);
    if (G_IS_PARAM_SPEC_BOOLEAN(pspec)) return CVIPS_KIND_BOOL;
    if (G_IS_PARAM_SPEC_INT(pspec)) return CVIPS_KIND_INT;
    if (G_IS_PARAM_SPEC_DOUBLE(pspec)) return CVIPS_KIND_DOUBLE;
    if (G_IS_PARAM_SPEC_STRING(pspec)) return CVIPS_KIND_STRING;
    if (G_IS_PARAM_SPEC_ENUM(pspec)) return CVIPS_KIND_ENUM;
    if (g_type_is_a(type, VIPS_TYPE_IMAGE)) return CVIPS_KIND_IMAGE;
    if (g_type_is_a(type, VIPS_TYPE_SOURCE)) return CVIPS_KIND_SOURCE;
    if (g_type_is_a(type, VIPS_TYPE_TARGET)) return CVIPS_KIND_TARGET;
    if (g_type_is_a(type, VIPS_TYPE_INTERPOLATE)) return CVIPS_KIND_INTERPOLATE;
    if (g_type_is_a(type, VIPS_TYPE_ARRAY_INT)) return CVIPS_KIND_ARRAY_INT;
    if (g_type_is_a(type, VIPS_TYPE_ARRAY_DOUBLE)) return CVIPS_KIND_ARRAY_DOUBLE;
    if (g_type_is_a(type, VIPS_TYPE_ARRAY_IMAGE)) return CVIPS_KIND_ARRAY_IMAGE;
    return CVIPS_KIND_OTHER;
}

// Returns FALSE where the operation has no such argument, without touching libvips' error buffer.
static inline gboolean cvips_parameter(VipsOperation *operation, const char *name, CVipsParameter *out)
{
    GParamSpec *pspec = g_object_class_find_property(G_OBJECT_GET_CLASS(operation), name);
    if (!pspec) return FALSE;
    // The table is a hash table by GParamSpec; libvips' own look-up is not exported.
    VipsArgumentClass *argument = (VipsArgumentClass *)
        g_hash_table_lookup(VIPS_OBJECT_GET_CLASS(operation)->argument_table, pspec);
    if (!argument) return FALSE;
    out->kind = cvips_kind(pspec);
    out->type = G_PARAM_SPEC_VALUE_TYPE(pspec);
    out->input = (argument->flags & VIPS_ARGUMENT_INPUT) != 0;
    out->required = (argument->flags & VIPS_ARGUMENT_REQUIRED) != 0;
    out->minimum = 0;
    out->maximum = 0;
    if (out->kind == CVIPS_KIND_INT) {
        out->minimum = G_PARAM_SPEC_INT(pspec)->minimum;
        out->maximum = G_PARAM_SPEC_INT(pspec)->maximum;
    }
    if (out->kind == CVIPS_KIND_DOUBLE) {
        out->minimum = G_PARAM_SPEC_DOUBLE(pspec)->minimum;
        out->maximum = G_PARAM_SPEC_DOUBLE(pspec)->maximum;
    }
    return TRUE;
}

// The names of an operation's arguments, as a NULL-terminated array that the caller frees with g_free (the strings
// stay).
static inline const char **cvips_argument_names(VipsOperation *operation, int *count)
{
    VipsObjectClass *class = VIPS_OBJECT_GET_CLASS(operation);
    const char **names = g_new0(const char *, g_slist_length(class->argument_table_traverse) + 1);
    *count = 0;
    for (GSList *item = class->argument_table_traverse; item; item = item->next)
        names[(*count)++] = g_param_spec_get_name(((VipsArgument *) item->data)->pspec);
    return names;
}

// The value of an enum's nickname; FALSE where the enum has no such nickname.
static inline gboolean cvips_enum_value(GType type, const char *nick, int *out)
{
    GEnumClass *class = (GEnumClass *) g_type_class_ref(type);
    GEnumValue *value = g_enum_get_value_by_nick(class, nick);
    if (value) *out = value->value;
    g_type_class_unref(class);
    return value != NULL;
}

// The nickname at a position in an enum; NULL past the end. GLib keeps the string for ever.
static inline const char *cvips_enum_nick(GType type, unsigned int index)
{
    GEnumClass *class = (GEnumClass *) g_type_class_ref(type);
    const char *nick = index < class->n_values ? class->values[index].value_nick : NULL;
    g_type_class_unref(class);
    return nick;
}

static inline void cvips_set_int(VipsOperation *operation, const char *name, int value)
{
    g_object_set(operation, name, value, NULL);
}

static inline void cvips_set_double(VipsOperation *operation, const char *name, double value)
{
    g_object_set(operation, name, value, NULL);
}

static inline void cvips_set_string(VipsOperation *operation, const char *name, const char *value)
{
    g_object_set(operation, name, value, NULL);
}

// The operation takes a reference of its own.
static inline void cvips_set_object(VipsOperation *operation, const char *name, void *object)
{
    g_object_set(operation, name, object, NULL);
}

// FALSE where libvips has no interpolator of this nickname.
static inline gboolean cvips_set_interpolate(VipsOperation *operation, const char *name, const char *nick)
{
    VipsInterpolate *interpolate = vips_interpolate_new(nick);
    if (!interpolate) return FALSE;
    g_object_set(operation, name, interpolate, NULL);
    g_object_unref(interpolate);
    return TRUE;
}

static inline void cvips_set_array_int(VipsOperation *operation, const char *name, const int *values, int count)
{
    VipsArrayInt *array = vips_array_int_new(values, count);
    g_object_set(operation, name, array, NULL);
    vips_area_unref(VIPS_AREA(array));
}

static inline void cvips_set_array_double(VipsOperation *operation, const char *name, const double *values, int count)
{
    VipsArrayDouble *array = vips_array_double_new(values, count);
    g_object_set(operation, name, array, NULL);
    vips_area_unref(VIPS_AREA(array));
}

// vips_array_image_new takes a reference to each image.
static inline void cvips_set_array_image(VipsOperation *operation, const char *name, VipsImage **values, int count)
{
    VipsArrayImage *array = vips_array_image_new(values, count);
    g_object_set(operation, name, array, NULL);
    vips_area_unref(VIPS_AREA(array));
}

// The caller owns the reference.
static inline VipsImage *cvips_get_image(VipsOperation *operation, const char *name)
{
    VipsImage *image = NULL;
    g_object_get(operation, name, &image, NULL);
    return image;
}

static inline void cvips_operation_unref(VipsOperation *operation)
{
    vips_object_unref_outputs(VIPS_OBJECT(operation));
    g_object_unref(operation);
}

static inline void *cvips_copy_field(VipsImage *image, const char *name, GValue *value, VipsImage *copy)
{
    (void) image;
    // libvips keeps the header's own fields in the image itself; these are what came with the file.
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(copy), name)) return NULL;
    vips_image_set(copy, name, value);
    return NULL;
}

// A picture in memory with another's metadata and kind of pixels, for rows to be written into. The caller owns the
// reference.
static inline VipsImage *cvips_memory_image_like(VipsImage *image, int width, int height)
{
    VipsImage *copy = vips_image_new_memory();
    if (!copy) return NULL;
    vips_image_init_fields(
        copy, width, height, vips_image_get_bands(image), vips_image_get_format(image), VIPS_CODING_NONE,
        vips_image_get_interpretation(image), vips_image_get_xres(image), vips_image_get_yres(image));
    vips_image_map(image, (VipsImageMapFn) cvips_copy_field, copy);
    // libvips reads a block of EXIF when it is set, and so says again how a picture is to be turned that is upright.
    if (!vips_image_get_typeof(image, VIPS_META_ORIENTATION)) {
        vips_image_remove(copy, VIPS_META_ORIENTATION);
        vips_image_remove(copy, "exif-ifd0-Orientation");
    }
    if (vips_image_write_prepare(copy)) {
        g_object_unref(copy);
        return NULL;
    }
    return copy;
}

// Bytes in a row.
static inline size_t cvips_line_size(VipsImage *image) { return VIPS_IMAGE_SIZEOF_LINE(image); }

// The first byte of a row of a picture in memory.
static inline void *cvips_image_row(VipsImage *image, int y) { return VIPS_IMAGE_ADDR(image, 0, y); }

// The first byte of a pixel of a region that was prepared.
static inline const void *cvips_region_place(VipsRegion *region, int x, int y)
{
    return VIPS_REGION_ADDR(region, x, y);
}

// Says that a picture's pixels are made of another's, row by row; 0 or -1.
static inline int cvips_pipeline(VipsImage *image, VipsImage *input)
{
    return vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, input, NULL);
}

// Lets go of something with the picture.
static inline void cvips_keep(VipsImage *image, void *kept, GDestroyNotify release)
{
    g_object_set_data_full(G_OBJECT(image), "imagemill-kept", kept, release);
}

// The bytes of a target that keeps them in memory, once a saver has ended it. The caller must unref them; NULL if there
// are none.
static inline VipsBlob *cvips_target_blob(VipsTarget *target)
{
    VipsBlob *blob = NULL;
    g_object_get(target, "blob", &blob, NULL);
    return blob;
}

static inline void cvips_blob_unref(VipsBlob *blob) { vips_area_unref(VIPS_AREA(blob)); }

static inline GType cvips_type_blob(void) { return VIPS_TYPE_BLOB; }
static inline GType cvips_type_string(void) { return VIPS_TYPE_REF_STRING; }
static inline GType cvips_type_int(void) { return G_TYPE_INT; }
static inline GType cvips_type_array_int(void) { return VIPS_TYPE_ARRAY_INT; }

static inline void *cvips_count_object(VipsObject *object, size_t *count, void *unused)
{
    (void) object;
    (void) unused;
    *count += 1;
    return NULL;
}

// How many libvips objects are alive in this process.
static inline size_t cvips_live_objects(void)
{
    size_t count = 0;
    vips_object_map((VipsSListMap2Fn) cvips_count_object, &count, NULL);
    return count;
}

// Whether GLib's flags say that something is wrong. As a function, because newer GLibs make Swift see these enums as
// option sets.
static inline gboolean cvips_is_warning(GLogLevelFlags level)
{
    return (level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR)) != 0;
}

// vips_error takes any number of arguments, which Swift cannot pass.
static inline void cvips_add_error(const char *text) { vips_error(NULL, "%s", text); }

#endif
