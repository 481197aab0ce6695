// The names that a source got.
package import Pipeline

/// The names that a source got, and what that meant for others.
package struct Allocation: Sendable {
    /// The names of its renditions.
    package let names: [RenditionName]
    /// 1 for plain names.
    package let version: Int
    /// The files under names, extra ones included, that may be replaced as long as they are as they were found. All
    /// others must be published without replacing.
    package let replaceable: [BytePath: FoundFile]
    /// Sources that have lost a name to this one: `collision: overwrite`.
    package let losers: [BytePath]
    /// Names that were not recorded as the source's own before.
    let claimed: [BytePath]
    /// Names the owner of the plain names, if this source does not have them.
    package let warning: Warning?
}
