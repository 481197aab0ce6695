// The pixels of a rendition do not depend on the others that are made beside it.
import Glibc
import TestSupport
import Testing
import Vips

@Suite struct SiblingTests {
    private static let patterns = ["stripes-1", "stripes-2", "stripes-3", "checks", "zones", "noise"]
    private static let width = 808
    private static let height = 600

    private func value(_ pattern: String, _ x: Int, _ y: Int) -> UInt8 {
        switch pattern {
        case "stripes-1": return x % 2 == 0 ? 0 : 255
        case "stripes-2": return x / 2 % 2 == 0 ? 0 : 255
        case "stripes-3": return y / 3 % 2 == 0 ? 0 : 255
        case "checks": return (x / 3 + y / 3) % 2 == 0 ? 0 : 255
        case "zones":
            let (a, b) = (x - Self.width / 2, y - Self.height / 2)
            return UInt8(127.5 + 127.5 * cos(Double(a * a + b * b) * .pi / Double(Self.width)))
        default: return UInt8(truncatingIfNeeded: UInt64(y * Self.width + x) &* 0x9E37_79B9_7F4A_7C15 >> 41)
        }
    }

    struct Source: Sendable, CustomTestStringConvertible {
        let suffix: String
        let saver: String
        /// Whether the stages before the scaling leave it to each rendition.
        let stages: String
        var testDescription: String { "\(suffix), \(stages)" }
    }

    // At 1/2, 1/4 and 1/8 the decoder shrinks for the small ones if they are alone, and not at all beside the large
    // one.
    private static let sizes = [350, 190, 150, 95, 50]

    @Test(arguments: [
        Source(suffix: "jpg", saver: "jpegsave_target", stages: ""),
        Source(suffix: "webp", saver: "webpsave_target", stages: ""),
        Source(suffix: "png", saver: "pngsave_target", stages: ""),
        Source(suffix: "jpg", saver: "jpegsave_target", stages: "{ crop: { width: 75%, height: 100% } }, "),
        Source(suffix: "jpg", saver: "jpegsave_target", stages: "{ grayscale: {} }, "),
        Source(suffix: "webp", saver: "webpsave_target", stages: "{ grayscale: {} }, "),
    ])
    func `a small rendition beside a large one is the one it would be alone, to a level of 255`(source: Source)
        async throws
    {
        let runner = try CommandRunner()
        for pattern in Self.patterns {
            let options: [(String, Argument)] = source.suffix == "png" ? [] : [("Q", 95)]
            try await runner.save("in/\(pattern).\(source.suffix)", as: source.saver, options) {
                try TestPicture.make(width: Self.width, height: Self.height) { x, y in
                    Array(repeating: value(pattern, x, y), count: 3)
                }
            }
        }
        func rendition(_ size: Int) -> String {
            "  \"\(size)\": { stages: [\(source.stages)resize: { size: \"\(size)x\(size)\" }], save: { format: png } }\n"
        }
        let every = ([700] + Self.sizes).map { rendition($0) }.joined()
        try runner.folder.write("renditions:\n" + every, to: "all.yaml")
        #expect(try await runner.run("run", "all.yaml", "in", "-o", "all").exit == 0)
        for size in Self.sizes {
            try runner.folder.write("renditions:\n" + rendition(size), to: "one.yaml")
            let result = try await runner.run("run", "one.yaml", "in", "-o", "one/\(size)")
            #expect(result.exit == 0, "\(result.errors)")
            for pattern in Self.patterns {
                let together = try await runner.inspect("all/\(pattern)-\(size).png", by: "pngload_source") {
                    try $0.pixels()
                }
                let alone = try await runner.inspect("one/\(size)/\(pattern).png", by: "pngload_source") {
                    try $0.pixels()
                }
                try #require(together.count == alone.count)
                let differences = zip(together, alone).map { abs(Int($0) - Int($1)) }
                // A level more or less is what the decoder's own rounding makes of a value between two.
                #expect(differences.max()! <= 2, "\(pattern) at \(size)")
                let error = Double(differences.reduce(0) { $0 + $1 * $1 }) / Double(differences.count)
                if pattern == "zones" || pattern == "noise" {
                    let likeness = 10 * log10(255 * 255 / error)
                    #expect(likeness >= (source.suffix == "webp" ? 54 : 55), "\(pattern) at \(size): \(likeness) dB")
                }
                if source.suffix == "png" { #expect(error == 0, "\(pattern) at \(size)") }
            }
        }
    }

    @Test(arguments: ["jpg", "webp", "png"])
    func `a lossy rendition is as sharp beside a lossless one as alone, after a shared stage that scales or turns`(
        suffix: String
    ) async throws {
        let runner = try CommandRunner()
        for pattern in Self.patterns {
            let options: [(String, Argument)] = suffix == "png" ? [] : [("Q", 95)]
            let saver = "\(suffix == "jpg" ? "jpeg" : suffix)save_target"
            try await runner.save("in/\(pattern).\(suffix)", as: saver, options) {
                try TestPicture.make(width: Self.width, height: Self.height) { x, y in
                    Array(repeating: value(pattern, x, y), count: 3)
                }
            }
        }
        for shared in ["resize: { size: 260x }", "rotate: { angle: 90 }"] {
            func pipeline(_ formats: String) -> String {
                "stages: [{ \(shared) }]\nrenditions:\n  photo:\n    stages: [{ resize: { size: 230x } }]\n"
                    + "    save: { format: \(formats), quality: 90 }\n"
            }
            // Lossy savers hide the errors of a decoder that shrinks further, lossless ones do not.
            try runner.folder.write(pipeline("[webp, png]").replacing(", quality: 90", with: ""), to: "both.yaml")
            try runner.folder.write(pipeline("webp").replacing(", quality: 90", with: ""), to: "one.yaml")
            #expect(try await runner.run("run", "both.yaml", "in", "-o", "both", "--force").exit == 0)
            #expect(try await runner.run("run", "one.yaml", "in", "-o", "one", "--force").exit == 0)
            for pattern in Self.patterns {
                let (together, alone) = (
                    try await runner.inspect("both/\(pattern).webp", by: "webpload_source") { try $0.pixels() },
                    try await runner.inspect("one/\(pattern).webp", by: "webpload_source") { try $0.pixels() }
                )
                try #require(together.count == alone.count)
                let error = zip(together, alone).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
                let likeness = error == 0 ? .infinity : 10 * log10(255 * 255 * Double(alone.count) / error)
                // After an encoder that answers small differences with larger ones.
                #expect(likeness >= 36, "\(pattern) after \(shared): \(likeness) dB")
            }
        }
    }
}
