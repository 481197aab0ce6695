/// How an overlay mixes with what is below it. The words are libvips' names.
package enum BlendMode: String, ParameterWord {
    case over, atop, multiply, screen, overlay, darken, lighten, difference, exclusion, add, saturate, xor, clear, source
    case `in`, out, dest
    case destOver = "dest-over"
    case destIn = "dest-in"
    case destOut = "dest-out"
    case destAtop = "dest-atop"
    case colourDodge = "colour-dodge"
    case colourBurn = "colour-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
}
