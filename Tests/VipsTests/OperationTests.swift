import TestSupport
import Testing

@testable import Vips

@Suite("Calling operations") struct OperationTests {
    init() throws { try TestVips.start() }

    /// The error of a call that must fail.
    private func failure(_ name: String, _ arguments: KeyValuePairs<String, Argument>) throws -> VipsError {
        try #require(throws: VipsError.self) { _ = try Operation(name, arguments) }
    }

    private func picture() throws -> Image { try TestPicture.solid([10, 20, 30], width: 8, height: 6) }

    @Test func `an unknown operation is our error`() throws {
        let error = try failure("resise", [:])
        #expect(error.reason == .unknownOperation)
        #expect(error.message == "this libvips has no operation 'resise'")
        #expect(VipsLibrary.takeErrors().isEmpty)
    }

    @Test func `an unknown argument is our error, and says which there are`() throws {
        let error = try failure("resize", ["in": .image(try picture()), "scael": 0.5])
        #expect(error.reason == .unknownArgument)
        #expect(error.message.contains("has no input 'scael'"))
        #expect(error.message.contains("vscale"))
    }

    @Test func `an output cannot be set`() throws {
        let picture = try picture()
        #expect(try failure("invert", ["in": .image(picture), "out": .image(picture)]).reason == .unknownArgument)
    }

    @Test func `a number outside the range is our error, and says the range`() throws {
        let tooLarge = try failure("gaussblur", ["in": .image(try picture()), "sigma": 1001])
        #expect(tooLarge.reason == .outOfRange)
        #expect(tooLarge.message == "'sigma' takes 0.0 to 1000.0, not 1001.0")
        #expect(try failure("black", ["width": 0, "height": 1]).reason == .outOfRange)
        #expect(try failure("gaussblur", ["in": .image(try picture()), "sigma": .double(.nan)]).reason == .outOfRange)
    }

    @Test func `an unknown nickname is our error, and says which there are`() throws {
        let error = try failure("flip", ["in": .image(try picture()), "direction": "sideways"])
        #expect(error.reason == .outOfRange)
        #expect(error.message == "'direction' takes one of horizontal, vertical, not 'sideways'")
    }

    @Test func `a value of the wrong type is our error`() throws {
        let error = try failure("invert", ["in": 3])
        #expect(error.reason == .wrongType)
        #expect(error.message == "'in' takes an image, not int(3)")
    }

    @Test func `a missing argument is libvips' error with its text`() throws {
        let error = try failure("invert", [:])
        #expect(error.reason == .failed)
        #expect(error.message.contains("in"))
    }

    @Test func `none of these mistakes makes GLib warn`() throws {
        _ = GLibLog.shared.take()
        _ = try failure("resize", ["in": .image(try picture()), "scael": 0.5])
        _ = try failure("gaussblur", ["in": .image(try picture()), "sigma": -1])
        _ = try failure("flip", ["in": .image(try picture()), "direction": "sideways"])
        #expect(GLibLog.shared.take() == [])
    }

    @Test func `an operation gives its image`() throws {
        let picture = try picture()
        let inverted = try Operation("invert", ["in": .image(picture)]).image()
        #expect(try inverted.getpoint(x: 0, y: 0) == [245, 235, 225])
        #expect(throws: VipsError.self) { _ = try Operation("avg", ["in": .image(picture)]).image() }
    }
}
