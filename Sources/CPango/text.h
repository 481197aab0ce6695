// Lays out text by Pango and draws it by Cairo, as coverage of 8 bits a pixel. Types of both stay in here: Swift sees
// numbers, texts and two opaque pointers.
#pragma once

#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <pango/pango.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Fonts that texts may be drawn in: those of the system, and perhaps that of a file.
typedef struct cpango_fonts {
    PangoFontMap *map;
    FcConfig *config;
    // The font of the file, and how it calls itself; NULL if there is no file.
    PangoFontDescription *own;
    char *own_family;
} cpango_fonts;

static inline void cpango_free_fonts(cpango_fonts *fonts) {
    if (!fonts) return;
    if (fonts->own) pango_font_description_free(fonts->own);
    g_free(fonts->own_family);
    if (fonts->map) g_object_unref(fonts->map);
    if (fonts->config) FcConfigDestroy(fonts->config);
    g_free(fonts);
}

// - file: the font's path; NULL for the fonts of the system alone.
// Returns NULL if the file holds no font.
static inline cpango_fonts *cpango_new_fonts(const char *file) {
    cpango_fonts *fonts = g_new0(cpango_fonts, 1);
    fonts->config = FcInitLoadConfigAndFonts();
    fonts->map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
    if (!fonts->config || !fonts->map) {
        cpango_free_fonts(fonts);
        return NULL;
    }
    if (file) {
        FcFontSet *found = NULL;
        if (FcConfigAppFontAddFile(fonts->config, (const FcChar8 *)file))
            found = FcConfigGetFonts(fonts->config, FcSetApplication);
        // A file may hold several; the first one is meant.
        if (!found || found->nfont == 0) {
            cpango_free_fonts(fonts);
            return NULL;
        }
        // Under a name of its own: the system may have another font of its family, which would be as good a match.
        FcChar8 *family = NULL;
        FcPattern *font = found->fonts[0];
        if (FcPatternGetString(font, FC_FAMILY, 0, &family) == FcResultMatch)
            fonts->own_family = g_strdup((const char *)family);
        FcPatternDel(font, FC_FAMILY);
        FcPatternAddString(font, FC_FAMILY, (const FcChar8 *)"the font of the file");
        fonts->own = pango_fc_font_description_from_pattern(font, FALSE);
    }
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(fonts->map), fonts->config);
    return fonts;
}

// Whether a family of this name is there, and is not only replaced by another one.
static inline bool cpango_has_family(const cpango_fonts *fonts, const char *family) {
    // Names that stand for whatever the system has of a kind.
    static const char *const kinds[] = {"sans", "sans-serif", "serif", "monospace", "mono", "cursive", "fantasy",
                                        "system-ui", "emoji", "math"};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_ascii_strcasecmp(family, kinds[i]) == 0) return true;
    FcPattern *pattern = FcPatternBuild(NULL, FC_FAMILY, FcTypeString, family, (char *)NULL);
    FcObjectSet *wanted = FcObjectSetBuild(FC_FAMILY, (char *)NULL);
    FcFontSet *found = FcFontList(fonts->config, pattern, wanted);
    bool has = found && found->nfont > 0;
    if (found) FcFontSetDestroy(found);
    FcObjectSetDestroy(wanted);
    FcPatternDestroy(pattern);
    return has;
}

// The alignment of lines by their beginnings, middles or ends. Lines that are read from the right begin there.
typedef enum { CPANGO_BEGINNING, CPANGO_MIDDLE, CPANGO_END } cpango_align;

// A request to lay out a text. Lengths are in pixels.
typedef struct cpango_request {
    // UTF-8 that ends with a NUL.
    const char *text;
    bool is_markup;
    // NULL for the font of the file.
    const char *family;
    // 100 to 1000; 0 for that of the font.
    int weight;
    // 0 upright, 1 italic, 2 oblique; -1 for that of the font.
    int style;
    double size;
    // From one baseline to the next.
    double line_height;
    // Lines are broken there; 0 for never.
    double width;
    // Most lines that are drawn; 0 for all.
    int lines;
    // The last line ends with an ellipsis if there is more.
    bool is_ellipsized;
    // A word that is wider than the text is not broken; the text is cut then.
    bool keeps_words;
    cpango_align align;
} cpango_request;

typedef struct cpango_text {
    PangoContext *context;
    PangoLayout *layout;
    double line_height;
    // From the top of a line to its baseline.
    double baseline;
    int lines;
    // That of the longest line.
    double width;
    cpango_align align;
    bool is_cut;
    // The first characters that no font has, and the first that only others than the wanted one have; and whose those
    // are.
    char *missing, *borrowed, *lenders;
    // How many there are of both.
    int missing_count, borrowed_count;
    // The families that markup asks for, one in each line, each as it is written.
    char *families;
    // The family that the text is drawn in.
    char *family;
} cpango_text;

static inline void cpango_free_text(cpango_text *text) {
    if (!text) return;
    if (text->layout) g_object_unref(text->layout);
    if (text->context) g_object_unref(text->context);
    g_free(text->missing);
    g_free(text->borrowed);
    g_free(text->lenders);
    g_free(text->families);
    g_free(text->family);
    g_free(text);
}

// Pango makes an ellipsis as wide as the room that is left in its line. Returns by how much.
static inline double cpango_ellipsis_room(PangoLayoutLine *line) {
    double room = 0;
    for (GSList *runs = line->runs; runs; runs = runs->next) {
        PangoGlyphItem *run = runs->data;
        if (!(run->item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS)) continue;
        for (int i = 0; i < run->glyphs->num_glyphs; i++) {
            PangoRectangle logical;
            pango_font_get_glyph_extents(run->item->analysis.font, run->glyphs->glyphs[i].glyph, NULL, &logical);
            room += (double)(run->glyphs->glyphs[i].geometry.width - logical.width) / PANGO_SCALE;
        }
    }
    return fmax(0, room);
}

static inline double cpango_line_width(PangoLayoutLine *line) {
    PangoRectangle logical;
    pango_layout_line_get_extents(line, NULL, &logical);
    return (double)logical.width / PANGO_SCALE - cpango_ellipsis_room(line);
}

// A line separator in the last line that is drawn, because there is no room for the line after it, becomes a space of
// as many bytes. Pango would draw a mark for it.
// Returns whether there was one.
static inline bool cpango_join_last_lines(PangoLayout *layout, int lines) {
    PangoLayoutLine *last = pango_layout_get_line_readonly(layout, lines - 1);
    if (!last) return false;
    char *text = g_strdup(pango_layout_get_text(layout));
    bool isFound = false;
    for (char *at = text + last->start_index; (at = strstr(at, "\xE2\x80\xA8")); isFound = true)
        memcpy(at, "\xE2\x80\x85", 3);
    if (isFound) pango_layout_set_text(layout, text, -1);
    g_free(text);
    return isFound;
}

// All of a text has one color, so that what is behind its letters would hide them.
static inline gboolean cpango_is_background(PangoAttribute *attribute, void *unused) {
    (void)unused;
    return attribute->klass->type == PANGO_ATTR_BACKGROUND || attribute->klass->type == PANGO_ATTR_BACKGROUND_ALPHA;
}

// Where a line begins on the left, from the left side of the box.
static inline double cpango_line_start(const cpango_text *text, PangoLayoutLine *line) {
    double room = text->width - cpango_line_width(line);
    if (text->align == CPANGO_MIDDLE) return room / 2;
    bool isFromRight = pango_layout_line_get_resolved_direction(line) == PANGO_DIRECTION_RTL;
    return (text->align == CPANGO_END) == isFromRight ? 0 : room;
}

enum { cpango_most_named = 20 };

// Different things in the order in which they were found, of which the first are named.
typedef struct cpango_names {
    GHashTable *known;
    GString *first;
} cpango_names;

static inline cpango_names cpango_new_names(GHashFunc hash, GEqualFunc equal, GDestroyNotify release) {
    return (cpango_names){g_hash_table_new_full(hash, equal, release, NULL), g_string_new(NULL)};
}

// Returns the first ones, to be freed by g_free.
static inline char *cpango_end_names(cpango_names names, int *count) {
    if (count) *count = (int)g_hash_table_size(names.known);
    g_hash_table_destroy(names.known);
    return g_string_free(names.first, FALSE);
}

static inline void cpango_name_character(cpango_names names, gunichar character) {
    if (!g_hash_table_add(names.known, GUINT_TO_POINTER(character))) return;
    if (g_hash_table_size(names.known) <= cpango_most_named) g_string_append_unichar(names.first, character);
}

static inline void cpango_name_word(cpango_names names, const char *word, const char *separator) {
    if (!word || !g_hash_table_add(names.known, g_strdup(word))) return;
    if (g_hash_table_size(names.known) > cpango_most_named) return;
    g_string_append_printf(names.first, "%s%s", names.first->len ? separator : "", word);
}

static inline bool cpango_is_seen(gunichar character) {
    switch (g_unichar_type(character)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SPACE_SEPARATOR: return false;
    // Choose among the forms of the character before them.
    default: return !(character >= 0xFE00 && character <= 0xFE0F) && !(character >= 0xE0100 && character <= 0xE01EF);
    }
}

// Finds out which characters the font lacks.
static inline void cpango_look_for_missing(cpango_text *text, PangoFont *font) {
    cpango_names missing = cpango_new_names(g_direct_hash, g_direct_equal, NULL);
    cpango_names borrowed = cpango_new_names(g_direct_hash, g_direct_equal, NULL);
    cpango_names lenders = cpango_new_names(g_str_hash, g_str_equal, g_free);
    const char *written = pango_layout_get_text(text->layout);
    GSList *line = pango_layout_get_lines_readonly(text->layout);
    for (int i = 0; i < text->lines && line; i++, line = line->next) {
        for (GSList *runs = ((PangoLayoutLine *)line->data)->runs; runs; runs = runs->next) {
            PangoGlyphItem *run = runs->data;
            if (!run->item->analysis.font) continue;
            bool borrows = false;
            for (int j = 0; j < run->glyphs->num_glyphs; j++) {
                PangoGlyph glyph = run->glyphs->glyphs[j].glyph;
                if (glyph != PANGO_GLYPH_EMPTY && glyph & PANGO_GLYPH_UNKNOWN_FLAG)
                    cpango_name_character(missing, glyph & ~PANGO_GLYPH_UNKNOWN_FLAG);
            }
            if (run->item->analysis.font == font) continue;
            const char *from = written + run->item->offset;
            for (const char *at = from; at < from + run->item->length; at = g_utf8_next_char(at)) {
                gunichar character = g_utf8_get_char(at);
                if (!cpango_is_seen(character) || pango_font_has_char(font, character)) continue;
                if (g_hash_table_contains(missing.known, GUINT_TO_POINTER(character))) continue;
                cpango_name_character(borrowed, character);
                borrows = true;
            }
            if (!borrows) continue;
            PangoFontDescription *lender = pango_font_describe(run->item->analysis.font);
            cpango_name_word(lenders, pango_font_description_get_family(lender), ", ");
            pango_font_description_free(lender);
        }
    }
    text->missing = cpango_end_names(missing, &text->missing_count);
    text->borrowed = cpango_end_names(borrowed, &text->borrowed_count);
    text->lenders = cpango_end_names(lenders, NULL);
}

// The families that attributes ask for, one in each line, to be freed by g_free.
static inline char *cpango_families(PangoAttrList *attributes) {
    cpango_names families = cpango_new_names(g_str_hash, g_str_equal, g_free);
    GSList *all = pango_attr_list_get_attributes(attributes);
    for (GSList *each = all; each; each = each->next) {
        PangoAttribute *attribute = each->data;
        if (attribute->klass->type == PANGO_ATTR_FAMILY)
            cpango_name_word(families, ((PangoAttrString *)attribute)->value, "\n");
        else if (attribute->klass->type == PANGO_ATTR_FONT_DESC)
            cpango_name_word(
                families, pango_font_description_get_family(((PangoAttrFontDesc *)attribute)->desc), "\n");
    }
    g_slist_free_full(all, (GDestroyNotify)pango_attribute_destroy);
    return cpango_end_names(families, NULL);
}

// Lays out a text.
// - problem: what is wrong with the markup, to be freed by g_free; NULL if it is no markup or right.
// Returns NULL if there is a problem, or no font at all.
static inline cpango_text *cpango_lay_out(const cpango_fonts *fonts, const cpango_request *wanted, char **problem) {
    *problem = NULL;
    cpango_text *text = g_new0(cpango_text, 1);
    text->context = pango_font_map_create_context(fonts->map);
    // Shapes and positions as they are drawn in the font, so that all scales show the same.
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(text->context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(text->context, FALSE);
    // The same on all machines, whatever their language is.
    PangoLanguage *language = pango_language_from_string("en");
    pango_context_set_language(text->context, language);

    PangoFontDescription *description = fonts->own && !wanted->family ? pango_font_description_copy(fonts->own)
                                                                      : pango_font_description_new();
    if (wanted->family) pango_font_description_set_family(description, wanted->family);
    if (wanted->weight > 0) pango_font_description_set_weight(description, (PangoWeight)wanted->weight);
    if (wanted->style >= 0) {
        static const PangoStyle styles[] = {PANGO_STYLE_NORMAL, PANGO_STYLE_ITALIC, PANGO_STYLE_OBLIQUE};
        pango_font_description_set_style(description, styles[wanted->style]);
    }
    pango_font_description_set_absolute_size(description, wanted->size * PANGO_SCALE);

    text->layout = pango_layout_new(text->context);
    pango_layout_set_font_description(text->layout, description);
    PangoFont *font = pango_context_load_font(text->context, description);
    pango_font_description_free(description);
    PangoAttrList *attributes = NULL;
    if (wanted->is_markup) {
        GError *error = NULL;
        char *plain = NULL;
        if (!pango_parse_markup(wanted->text, -1, 0, &attributes, &plain, NULL, &error)) {
            *problem = g_strdup(error->message);
            g_error_free(error);
        } else {
            pango_layout_set_text(text->layout, plain, -1);
            text->families = cpango_families(attributes);
            g_free(plain);
            PangoAttrList *behind = pango_attr_list_filter(attributes, cpango_is_background, NULL);
            if (behind) pango_attr_list_unref(behind);
        }
    } else {
        pango_layout_set_text(text->layout, wanted->text, -1);
    }
    if (!attributes) attributes = pango_attr_list_new();
    // A name that is broken must not get a hyphen that it does not have.
    pango_attr_list_insert_before(attributes, pango_attr_insert_hyphens_new(FALSE));
    pango_layout_set_attributes(text->layout, attributes);
    pango_attr_list_unref(attributes);
    if (*problem || !font) {
        if (font) g_object_unref(font);
        cpango_free_text(text);
        return NULL;
    }
    if (wanted->width > 0) pango_layout_set_width(text->layout, (int)(wanted->width * PANGO_SCALE + 0.5));
    pango_layout_set_wrap(text->layout, wanted->keeps_words ? PANGO_WRAP_WORD : PANGO_WRAP_WORD_CHAR);
    if (wanted->is_ellipsized) {
        pango_layout_set_ellipsize(text->layout, PANGO_ELLIPSIZE_END);
        pango_layout_set_height(text->layout, -wanted->lines);
        if (wanted->lines > 0) cpango_join_last_lines(text->layout, wanted->lines);
    }

    // Lines are placed by their own numbers: those of Pango fill the width where it cuts them.
    int count = pango_layout_get_line_count(text->layout);
    text->lines = wanted->lines > 0 && wanted->lines < count ? wanted->lines : count;
    text->is_cut = text->lines < count || pango_layout_is_ellipsized(text->layout);
    GSList *line = pango_layout_get_lines_readonly(text->layout);
    for (int i = 0; i < text->lines && line; i++, line = line->next)
        text->width = fmax(text->width, cpango_line_width(line->data));
    // A little more is due to rounding.
    if (wanted->keeps_words && wanted->width > 0 && text->width > wanted->width + 0.01) text->is_cut = true;
    text->align = wanted->align;

    PangoFontMetrics *metrics = pango_font_get_metrics(font, language);
    double ascent = (double)pango_font_metrics_get_ascent(metrics) / PANGO_SCALE;
    double descent = (double)pango_font_metrics_get_descent(metrics) / PANGO_SCALE;
    pango_font_metrics_unref(metrics);
    text->line_height = wanted->line_height;
    text->baseline = (wanted->line_height - ascent - descent) / 2 + ascent;
    if (fonts->own_family && !wanted->family) {
        text->family = g_strdup(fonts->own_family);
    } else {
        PangoFontDescription *used = pango_font_describe(font);
        text->family = g_strdup(pango_font_description_get_family(used));
        pango_font_description_free(used);
    }
    cpango_look_for_missing(text, font);
    g_object_unref(font);
    return text;
}

// Draws into a mask of width × height bytes.
// - x, y: where the top left corner of the text's box is in the mask.
// - outline: how far around the shapes is covered; 0 for the shapes themselves.
// Returns false if there is no memory.
static inline bool cpango_draw(
    cpango_text *text, double x, double y, double outline, uint8_t *mask, int width, int height
) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, width, height);
    cairo_t *cairo = cairo_create(surface);
    // Paths, since Cairo puts glyphs on whole pixels.
    GSList *line = pango_layout_get_lines_readonly(text->layout);
    for (int i = 0; i < text->lines && line; i++, line = line->next) {
        double top = y + i * text->line_height;
        // A line outside of the mask costs nothing.
        if (top > height + text->line_height || top < -2 * text->line_height) continue;
        // The excess width of an ellipsis is on its left, and so before a line that is read from the right.
        bool isFromRight = pango_layout_line_get_resolved_direction(line->data) == PANGO_DIRECTION_RTL;
        double before = isFromRight ? cpango_ellipsis_room(line->data) : 0;
        cairo_move_to(cairo, x + cpango_line_start(text, line->data) - before, top + text->baseline);
        pango_cairo_layout_line_path(cairo, line->data);
        if (outline > 0) {
            cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
            cairo_set_line_width(cairo, 2 * outline);
            cairo_stroke_preserve(cairo);
        }
        cairo_fill(cairo);
    }
    bool isDrawn = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    cairo_surface_flush(surface);
    const uint8_t *rows = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int row = 0; isDrawn && row < height; row++)
        memcpy(mask + (size_t)row * width, rows + (size_t)row * stride, width);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return isDrawn;
}
