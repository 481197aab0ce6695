// The values of one picture for the parameters of its pipeline: of its metadata, its folder, and a file of its own.

/// A file with values for parameters, a mapping of names to values: `photo.jpg.yaml` beside `photo.jpg`, or
/// `_imagemill.yaml` for all pictures in its folder and below.
package struct Sidecar: Equatable, Sendable, Codable {
    /// As messages show it.
    package let name: String
    package let text: String
    package let origin: ParameterSetting.Origin

    package init(name: String, text: String, origin: ParameterSetting.Origin) {
        (self.name, self.text, self.origin) = (name, text, origin)
    }

    /// The largest one, in bytes.
    package static let largest = 64 << 10
    /// The name of a folder's.
    package static let ofFolder = BytePath("_imagemill.yaml")

    private static let ending = Array(".yaml".utf8)

    /// The path of a picture's own; nil if its name is too long to have one.
    package static func path(of picture: BytePath) -> BytePath? {
        let path = BytePath(picture.bytes + ending)
        return path.lastComponent.bytes.count <= 255 ? path : nil
    }

    /// The path of the picture that a file of this name would belong to; nil if it is not named like a sidecar.
    package static func picture(of path: BytePath) -> BytePath? {
        let name = path.lastComponent.bytes
        guard name.count > ending.count, name.suffix(ending.count).elementsEqual(ending) else { return nil }
        return BytePath(path.bytes.dropLast(ending.count))
    }
}

/// The values that one picture has for the parameters of its pipeline.
package struct PictureValues: Equatable, Sendable, Codable {
    package var metadata: [MetadataValue]
    /// The weaker ones first.
    package var sidecars: [Sidecar]

    package init(metadata: [MetadataValue] = [], sidecars: [Sidecar] = []) {
        (self.metadata, self.sidecars) = (metadata, sidecars)
    }

    package var isEmpty: Bool { metadata.isEmpty && sidecars.isEmpty }

    /// Whether others say the same, in files of whatever names.
    package func says(_ others: PictureValues) -> Bool {
        metadata == others.metadata
            && sidecars.elementsEqual(others.sidecars) { $0.text == $1.text && $0.origin == $1.origin }
    }
}

/// The values in one sidecar, checked by the types of the parameters.
struct SidecarValues {
    let origin: ParameterSetting.Origin
    private(set) var nodes: [String: YAMLNode] = [:]
    /// Every mistake in it; nil if there is none.
    private(set) var mistakes: Diagnostics?

    /// - Parameter general: the part of the pipeline that is the same for all pictures and uses a parameter; nil if
    ///   none does.
    init(
        _ sidecar: Sidecar, _ parameters: [PipelineParameter], catalogue: StageCatalogue,
        general: (String) -> String?
    ) {
        origin = sidecar.origin
        var log = ReadingLog(catalogue: catalogue)
        // One that says nothing yet is as good as none.
        let isBlank = sidecar.text.split(whereSeparator: \.isNewline).allSatisfy {
            let line = $0.drop { $0 == " " }
            return line.isEmpty || line.hasPrefix("#")
        }
        if !isBlank { read(sidecar.text, parameters, &log, general) }
        guard !log.problems.isEmpty else { return }
        mistakes = Diagnostics(file: sidecar.name, text: sidecar.text, items: log.problems)
    }

    /// More of them help nobody.
    private static let mostMistakes = 20

    private mutating func read(
        _ text: String, _ parameters: [PipelineParameter], _ log: inout ReadingLog, _ general: (String) -> String?
    ) {
        let (root, problems) = readYAML(text)
        for problem in problems { log.problem(problem.position, problem.message) }
        guard let root, problems.isEmpty else { return }
        guard case .mapping(let entries) = root.content else {
            return log.problem(
                root.position, "expected a mapping from the names of parameters to values, found \(root.found)")
        }
        for entry in entries where log.problems.count < Self.mostMistakes {
            guard let parameter = parameters.first(where: { $0.name == entry.key }) else {
                log.problem(entry.keyPosition, noParameter(entry.key, among: parameters.map(\.name)))
                continue
            }
            // Nothing is said of it.
            if entry.value.isNull { continue }
            if let part = general(entry.key) {
                log.problem(
                    entry.keyPosition,
                    "'\(part)' uses '\(entry.key)' and is the same for all pictures; set it with --set, or 'set' in a mill file"
                )
            }
            nodes[entry.key] = parameter.checked(entry.value, "'\(entry.key)'", &log)
        }
    }
}
