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

    @Test("an unknown operation is our error")
    func unknownOperation() throws {
        let error = try failure("resise", [:])
        #expect(error.reason == .unknownOperation)
        #expect(error.message == "this libvips has no operation 'resise'")
        #expect(VipsLibrary.takeErrors().isEmpty)
    }

    @Test("an unknown argument is our error, and says which there are")
    func unknownArgument() throws {
        let error = try failure("resize", ["in": .image(try picture()), "scael": 0.5])
        #expect(error.reason == .unknownArgument)
        #expect(error.message.contains("has no input 'scael'"))
        #expect(error.message.contains("vscale"))
    }

    @Test("an output cannot be set")
    func output() throws {
        let picture = try picture()
        #expect(try failure("invert", ["in": .image(picture), "out": .image(picture)]).reason == .unknownArgument)
    }

    @Test("a number outside the range is our error, and says the range")
    func outOfRange() throws {
        let tooLarge = try failure("gaussblur", ["in": .image(try picture()), "sigma": 1001])
        #expect(tooLarge.reason == .outOfRange)
        #expect(tooLarge.message == "'sigma' takes 0.0 to 1000.0, not 1001.0")
        #expect(try failure("black", ["width": 0, "height": 1]).reason == .outOfRange)
        #expect(try failure("gaussblur", ["in": .image(try picture()), "sigma": .double(.nan)]).reason == .outOfRange)
    }

    @Test("an unknown nickname is our error, and says which there are")
    func unknownNickname() throws {
        let error = try failure("flip", ["in": .image(try picture()), "direction": "sideways"])
        #expect(error.reason == .outOfRange)
        #expect(error.message == "'direction' takes one of horizontal, vertical, not 'sideways'")
    }

    @Test("a value of the wrong type is our error")
    func wrongType() throws {
        let error = try failure("invert", ["in": 3])
        #expect(error.reason == .wrongType)
        #expect(error.message == "'in' takes an image, not int(3)")
    }

    @Test("a missing argument is libvips' error with its text")
    func missing() throws {
        let error = try failure("invert", [:])
        #expect(error.reason == .failed)
        #expect(error.message.contains("in"))
    }

    @Test("none of these mistakes makes GLib warn")
    func silence() throws {
        _ = GLibLog.shared.take()
        _ = try failure("resize", ["in": .image(try picture()), "scael": 0.5])
        _ = try failure("gaussblur", ["in": .image(try picture()), "sigma": -1])
        _ = try failure("flip", ["in": .image(try picture()), "direction": "sideways"])
        #expect(GLibLog.shared.take() == [])
    }

    @Test("an operation gives its image")
    func outputs() throws {
        let picture = try picture()
        let inverted = try Operation("invert", ["in": .image(picture)]).image()
        #expect(try inverted.getpoint(x: 0, y: 0) == [245, 235, 225])
        #expect(throws: VipsError.self) { _ = try Operation("avg", ["in": .image(picture)]).image() }
    }
}
