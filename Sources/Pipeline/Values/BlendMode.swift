/// How an overlay mixes with what is below it. The words are those of the W3C and of libvips.
package enum BlendMode: String, ParameterWord {
    case over, atop, multiply, screen, overlay, darken, lighten, difference, exclusion, add, saturate, xor, clear,
        source
    case `in`, out, dest
    case destOver = "dest-over"
    case destIn = "dest-in"
    case destOut = "dest-out"
    case destAtop = "dest-atop"
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case hue, saturation, color, luminosity
}
