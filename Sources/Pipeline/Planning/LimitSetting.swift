// The one list of the limits that users set.

/// A limit of one source, as users name it. Mill files, inboxes, pipelines, options, plans of shards and `imagemill
/// doctor` take theirs from this list.
package struct LimitSetting: Sendable {
    package enum Unit: Sendable { case count, bytes, milliseconds }

    package let name: String
    package let unit: Unit
    package let value: any WritableKeyPath<Limits, Int> & Sendable
    /// One sentence that ends with the default.
    package let help: String

    /// - Parameter name: one of `all`; another one is a mistake in this program, which every start would show.
    package static func named(_ name: String) -> LimitSetting {
        guard let setting = all.first(where: { $0.name == name }) else {
            preconditionFailure("no limit is called '\(name)'")
        }
        return setting
    }

    package static let all = [
        LimitSetting(
            "max-pixels", .count, \.maximumPixels,
            "Most pixels of a source or a result, all frames together; default 100M."),
        LimitSetting("max-side", .count, \.maximumSide, "Most pixels of a side of a source; default 100K."),
        LimitSetting(
            "max-bands", .count, \.maximumBands,
            "Most bands of a source, alpha among them; default 5, which is CMYK with alpha."),
        LimitSetting("max-frames", .count, \.maximumFrames, "Most frames of an animation; default 500."),
        LimitSetting("max-scans", .count, \.maximumScans, "Most passes of a progressive JPEG; default 500."),
        LimitSetting("max-source-bytes", .bytes, \.maximumSourceBytes, "Most bytes of a source; default 512M."),
        LimitSetting(
            "max-metadata-bytes", .bytes, \.maximumMetadataBytes,
            "Most bytes of a source's EXIF, XMP, IPTC and texts; default 32M."),
        LimitSetting(
            "max-profile-bytes", .bytes, \.maximumProfileBytes, "Most bytes of a source's color profile; default 4M."),
        LimitSetting("max-output-bytes", .bytes, \.maximumOutputBytes, "Most bytes of one rendition; default 2G."),
        LimitSetting(
            "max-time", .milliseconds, \.maximumMilliseconds,
            "Most time for a source, besides what its pixels may take, which `imagemill plan` shows; half of it for a header; default 1m."
        ),
        LimitSetting(
            "max-cpu-time", .milliseconds, \.maximumProcessorMilliseconds,
            "The same in processor time, of all threads together; default 2m."),
    ]

    /// A value as users write it.
    package func written(_ value: Int) -> String {
        unit == .milliseconds ? Duration.milliseconds(value).written : String(value)
    }

    private init(_ name: String, _ unit: Unit, _ value: any WritableKeyPath<Limits, Int> & Sendable, _ help: String) {
        self.name = name
        self.unit = unit
        self.value = value
        self.help = help
    }
}

/// Limits that somebody has set, by name; all others stay as they are.
package struct LimitOverrides: Hashable, Sendable {
    private var values: [String: Int] = [:]

    package init() {}

    /// Reads the keys of all limits.
    package init(_ p: inout Parameters) {
        for setting in LimitSetting.all {
            switch setting.unit {
            case .count:
                let count: Count? = p.optional(setting.name, setting.help)
                values[setting.name] = count?.value
            case .bytes:
                let bytes: ByteCount? = p.optional(setting.name, setting.help)
                values[setting.name] = bytes?.value
            case .milliseconds:
                let time: PositiveTime? = p.optional(setting.name, setting.help)
                values[setting.name] = time?.milliseconds
            }
        }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// Limits of which some are lower: none is raised.
    package func lowering(_ limits: Limits) -> Limits {
        var limits = limits
        for setting in LimitSetting.all {
            if let value = values[setting.name] {
                limits[keyPath: setting.value] = min(value, limits[keyPath: setting.value])
            }
        }
        return limits
    }

    package func applied(to limits: Limits) -> Limits {
        var limits = limits
        for setting in LimitSetting.all {
            if let value = values[setting.name] { limits[keyPath: setting.value] = value }
        }
        return limits
    }
}

extension LimitOverrides: ParameterMapping {
    package static var expectation: String { "limits such as { max-pixels: 300M }" }
    package static var owner: String { "'limits'" }
    package static var placeholder: LimitOverrides { LimitOverrides() }
    package var written: String {
        "{ "
            + LimitSetting.all.compactMap { limit in values[limit.name].map { "\(limit.name): \(limit.written($0))" } }
            .joined(separator: ", ")
            + " }"
    }
}
