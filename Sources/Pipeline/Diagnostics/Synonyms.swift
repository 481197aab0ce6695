// The words of other programs for those of a pipeline: sharp, ImageMagick, CSS, vipsthumbnail, imgproxy.

enum Synonyms {
    /// Our words for a word of others; the first that is known at a place is meant there.
    private static let words: [String: [String]] = [
        "filter": ["kernel"], "interpolation": ["kernel"], "fit": ["mode"], "gravity": ["anchor"],
        "position": ["anchor"], "filename": ["file"],
        "name": ["file"], "output": ["file", "outbox"], "out": ["outbox"], "input": ["path", "inboxes"],
        "folder": ["path"], "dir": ["path"],
        "cover": ["aspect-fill"], "outside": ["aspect-fill"], "contain": ["aspect-fit"], "inside": ["aspect-fit"],
        "fill": ["scale-to-fill"],
        "stretch": ["scale-to-fill"], "smart": ["attention"], "watermark": ["overlay"], "logo": ["overlay"],
        "thumbnail": ["resize"],
        "scale": ["resize"], "shrink": ["resize"], "extract": ["crop"], "pad": ["inset"], "border": ["inset"],
        "margin": ["inset"],
        "extend": ["inset"], "greyscale": ["grayscale"], "gray": ["grayscale"], "grey": ["grayscale"],
        "monochrome": ["grayscale"],
        "redraw": ["frame"], "draw": ["frame"], "drawinrect": ["frame"], "canvas": ["frame"], "embed": ["frame"],
        "letterbox": ["frame"], "roundcorners": ["mask"], "round-corners": ["mask"], "rounded-corners": ["mask"],
        "badge": ["overlay"], "autocrop": ["trim"], "auto-crop": ["trim"], "gaussian-blur": ["blur"],
        "gaussblur": ["blur"], "9-slice": ["nine-slice"], "ninepatch": ["nine-slice"], "nine-patch": ["nine-slice"],
        "resizableimage": ["nine-slice"], "pattern": ["tile"], "scroll": ["viewport"], "scrollview": ["viewport"],
        "colorize": ["tint"], "colourize": ["tint"], "template": ["tint"], "append": ["stitch"], "join": ["stitch"],
        "collage": ["contact-sheet"], "layers": ["composite"], "stack": ["composite"], "desaturate": ["grayscale"],
        "drop-shadow": ["shadow"], "dropshadow": ["shadow"], "box-shadow": ["shadow"], "vignette": ["gradient"],
        "scrim": ["gradient"], "linear-gradient": ["gradient"], "radial-gradient": ["gradient"], "stroke": ["border"],
        "outline": ["border"], "gradient-map": ["duotone"], "cube": ["lut"], "color-grade": ["lut"], "3dlut": ["lut"],
        "modulate": ["adjust"], "normalize": ["auto"], "white-balance": ["temperature"], "aspect-ratio": ["ratio"],
        "aspect": ["ratio"],
        "usm": ["sharpen"], "flop": ["flip"], "mirror": ["flip"], "unsharp": ["sharpen"], "montage": ["contact-sheet"],
        "rounded": ["mask"],
        "round": ["mask"],
        "panorama": ["stitch"], "blend": ["composite"], "sizes": ["scale"], "outputs": ["renditions"],
        "variants": ["renditions"],
        "help": ["about"], "description": ["about"], "steps": ["stages"], "operations": ["stages"],
        "strip": ["metadata"], "exif": ["metadata"],
        "interlace": ["progressive"],
        "color": ["background"], "colour": ["color", "background"], "background-color": ["background"],
        "degrees": ["angle"],
        "opacity": ["alpha"], "radius": ["sigma"],
        "chroma-subsampling": ["subsampling"], "jpg": ["jpeg"], "tif": ["tiff"], "jpegxl": ["jxl"], "jpeg-xl": ["jxl"],
        "watch": ["inboxes"],
        "folders": ["inboxes"],
    ]

    static func word(for word: String, among known: [String]) -> String? {
        words[word.lowercased()]?.first { known.contains($0) }
    }
}
