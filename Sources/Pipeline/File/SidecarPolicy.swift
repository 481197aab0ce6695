/// Whether a picture needs a file of its own with values for the parameters of its pipeline.
package enum SidecarPolicy: String, ParameterWord {
    case optional
    /// A picture without one fails.
    case required
}
