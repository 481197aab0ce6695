// Drawings that do not say how large they are.
import Testing

@testable import Pipeline

@Suite struct LacksSizeTests {
    @Test(arguments: [
        ("", true), (" width='100%' height='100%'", true), (" width='24'", true), (" height='24'", true),
        (" width='24' height='50 %'", true), (" width='' height=''", true), (" viewBox=''", true),
        (" width='24' height='24'", false), (" width='2em' height='10mm'", false), (" viewBox='0 0 24 24'", false),
        (" width='100%' height='100%' viewBox='0 0 24 24'", false), (" style='width:24px;height:24px'", false),
    ])
    func `an SVG needs a viewBox, or a width and a height in units`(attributes: String, lacks: Bool) {
        for prefix in ["", "<?xml version='1.0'?><!-- <svg width='9' height='9'> --><!DOCTYPE svg>\n"] {
            for name in ["svg", "s:svg"] {
                let svg = ByteSource(Array("\(prefix)<\(name)\(attributes)><svg width='1' height='1'/></\(name)>".utf8))
                #expect(lacksSize(.svg, in: svg) == lacks)
                #expect(!lacksSize(.png, in: svg))
            }
        }
    }

    @Test func `nothing is said of what cannot be looked into`() {
        for bytes in [[], [0x1F, 0x8B, 8, 0], Array("<svg".utf8), Array("<svg width='1".utf8), Array("<a/>".utf8)] {
            #expect(!lacksSize(.svg, in: ByteSource(bytes)), "\(bytes)")
        }
    }
}
