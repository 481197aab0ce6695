/// Another picture that a pipeline draws: its path as written, relative to the pipeline file.
package struct AssetPath: ParameterValue, Hashable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The last part of the path.
    package var fileName: String { BytePath(path).lastComponent.text }

    package static var expectation: String { "the path of a picture, relative to the pipeline file" }
    package static var schema: JSONValue { ["type": "string"] }
    package static var placeholder: AssetPath { AssetPath("") }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> AssetPath? {
        guard let text = node.text, !node.isNull, !text.utf8.contains(0) else { return nil }
        log.asset(AssetReference(path: text, kind: .picture, position: node.position))
        return AssetPath(text)
    }

    package var written: String { path }
}

/// A .cube file that a pipeline uses: its path as written, relative to the pipeline file.
package struct ColorTablePath: ParameterValue, Hashable {
    package let path: String

    package static var expectation: String { "the path of a .cube file, relative to the pipeline file" }
    package static var schema: JSONValue { ["type": "string"] }
    package static var placeholder: ColorTablePath { ColorTablePath(path: "") }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> ColorTablePath? {
        guard let text = node.text, !node.isNull, !text.utf8.contains(0) else { return nil }
        log.asset(AssetReference(path: text, kind: .colorTable, position: node.position))
        return ColorTablePath(path: text)
    }

    package var written: String { path }
}
