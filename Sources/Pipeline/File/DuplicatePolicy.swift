/// The policy for a source whose bytes another one of the inbox had, as far as the ledger knows.
package enum DuplicatePolicy: String, ParameterWord {
    case process
    /// It is done without renditions.
    case skip
    case fail
}
