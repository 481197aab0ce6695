// The curves by which a scaled picture's pixels are computed.

/// How new pixels are computed from old ones; libvips' names.
package enum ScalingKernel: String, ParameterWord {
    case lanczos3, lanczos2, mitchell, cubic, linear, nearest
}
