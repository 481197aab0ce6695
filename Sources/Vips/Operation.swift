// The one generic call. Everything libvips can do is reached through it; Image+Operations.swift wraps what the project
// uses.
import CVips

/// One call of a libvips operation: made by name, its arguments checked against what libvips says of them, built, and
/// read.
///
/// libvips itself meets an unknown name or a value out of range with a warning and goes on with the default. Here that
/// is an error.
package struct Operation: ~Copyable {
    private let pointer: UnsafeMutablePointer<VipsOperation>
    private let name: String

    /// Sets up the operation and runs it. Its outputs can then be read.
    /// - Throws: `VipsError` that says which argument is wrong and what it takes, or libvips' own text.
    package init(_ name: String, _ arguments: KeyValuePairs<String, Argument>) throws(VipsError) {
        try self.init(name, arguments.map { ($0.key, $0.value) })
    }

    /// The same, for arguments that are put together at run time.
    package init(_ name: String, _ arguments: [(String, Argument)]) throws(VipsError) {
        guard let new = vips_operation_new(name) else {
            _ = VipsLibrary.takeErrors()
            throw VipsError(
                reason: .unknownOperation, operation: name, message: "this libvips has no operation '\(name)'")
        }
        // vips_cache_operation_build takes over our reference and returns one: of the same object, as the cache is off.
        do throws(VipsError) {
            for (key, value) in arguments { try Self.set(key, value, on: new, named: name) }
        } catch {
            g_object_unref(new)
            throw error
        }
        var built: UnsafeMutablePointer<VipsOperation>? = new
        guard vips_cache_operation_buildp(&built) == 0, let built else {
            let error = VipsError.failed(operation: name)
            cvips_operation_unref(new)
            throw error
        }
        pointer = built
        self.name = name
    }

    deinit { cvips_operation_unref(pointer) }

    /// The image that an output argument holds.
    package func image(_ output: String = "out") throws(VipsError) -> Image {
        guard parameter(output)?.kind == CVIPS_KIND_IMAGE, let image = cvips_get_image(pointer, output) else {
            throw VipsError(reason: .unknownArgument, operation: name, message: "has no image output '\(output)'")
        }
        return Image(owning: image)
    }

    private func parameter(_ key: String) -> CVipsParameter? {
        var parameter = CVipsParameter()
        return cvips_parameter(pointer, key, &parameter) != 0 ? parameter : nil
    }
}

// Setting one argument, by its introspected kind.
extension Operation {
    private typealias Pointer = UnsafeMutablePointer<VipsOperation>

    private static func set(_ key: String, _ value: Argument, on operation: Pointer, named name: String)
        throws(VipsError)
    {
        var parameter = CVipsParameter()
        guard cvips_parameter(operation, key, &parameter) != 0, parameter.input != 0 else {
            let message = "has no input '\(key)'; it has \(inputNames(operation).joined(separator: ", "))"
            throw VipsError(reason: .unknownArgument, operation: name, message: message)
        }
        switch (parameter.kind, value) {
        case (CVIPS_KIND_BOOL, .bool(let value)): cvips_set_int(operation, key, value ? 1 : 0)
        case (CVIPS_KIND_INT, .int(let value)):
            try check(Double(value), in: parameter, of: key, named: name)
            cvips_set_int(operation, key, CInt(value))
        case (CVIPS_KIND_DOUBLE, .double(let value)):
            try check(value, in: parameter, of: key, named: name)
            cvips_set_double(operation, key, value)
        case (CVIPS_KIND_DOUBLE, .int(let value)):
            try check(Double(value), in: parameter, of: key, named: name)
            cvips_set_double(operation, key, Double(value))
        case (CVIPS_KIND_STRING, .string(let value)): cvips_set_string(operation, key, value)
        case (CVIPS_KIND_ENUM, .string(let nick)):
            cvips_set_int(operation, key, try enumValue(nick, of: parameter.type, for: key, named: name))
        case (CVIPS_KIND_IMAGE, .image(let image)): cvips_set_object(operation, key, image.pointer)
        case (CVIPS_KIND_SOURCE, .source(let source)): cvips_set_object(operation, key, source.pointer)
        case (CVIPS_KIND_TARGET, .target(let target)): cvips_set_object(operation, key, target.pointer)
        case (CVIPS_KIND_INTERPOLATE, .string(let nick)):
            guard cvips_set_interpolate(operation, key, nick) != 0 else { throw VipsError.failed(operation: name) }
        case (CVIPS_KIND_ARRAY_INT, .ints(let values)):
            cvips_set_array_int(operation, key, values.map { CInt(clamping: $0) }, CInt(values.count))
        case (CVIPS_KIND_ARRAY_DOUBLE, .doubles(let values)):
            cvips_set_array_double(operation, key, values, CInt(values.count))
        case (CVIPS_KIND_ARRAY_IMAGE, .images(let images)):
            var pointers: [UnsafeMutablePointer<VipsImage>?] = images.map(\.pointer)
            cvips_set_array_image(operation, key, &pointers, CInt(images.count))
        default:
            let message = "'\(key)' takes \(description(of: parameter.kind)), not \(value)"
            throw VipsError(reason: .wrongType, operation: name, message: message)
        }
    }

    private static func check(_ value: Double, in parameter: CVipsParameter, of key: String, named name: String)
        throws(VipsError)
    {
        guard value >= parameter.minimum, value <= parameter.maximum else {
            let message = "'\(key)' takes \(parameter.minimum) to \(parameter.maximum), not \(value)"
            throw VipsError(reason: .outOfRange, operation: name, message: message)
        }
    }

    private static func enumValue(
        _ nick: String, of type: GType, for key: String, named name: String
    ) throws(VipsError) -> CInt {
        var value: CInt = 0
        guard cvips_enum_value(type, nick, &value) != 0 else {
            let message = "'\(key)' takes one of \(nicknames(of: type).joined(separator: ", ")), not '\(nick)'"
            throw VipsError(reason: .outOfRange, operation: name, message: message)
        }
        return value
    }

    /// The nicknames that libvips has for the values of an enum.
    static func nicknames(of type: GType) -> [String] {
        var nicks: [String] = []
        while let next = cvips_enum_nick(type, CUnsignedInt(nicks.count)) { nicks.append(String(cString: next)) }
        // GLib's enums end with their own length.
        return nicks.filter { $0 != "last" }
    }

    private static func inputNames(_ operation: Pointer) -> [String] {
        var count: CInt = 0
        guard let names = cvips_argument_names(operation, &count) else { return [] }
        defer { g_free(names) }
        return (0..<Int(count)).compactMap { names[$0].map { String(cString: $0) } }
    }

    private static func description(of kind: CVipsKind) -> String {
        switch kind {
        case CVIPS_KIND_BOOL: "a boolean"
        case CVIPS_KIND_INT: "an integer"
        case CVIPS_KIND_DOUBLE: "a number"
        case CVIPS_KIND_STRING: "a string"
        case CVIPS_KIND_ENUM: "a nickname of its enum"
        case CVIPS_KIND_IMAGE: "an image"
        case CVIPS_KIND_SOURCE: "a source"
        case CVIPS_KIND_TARGET: "a target"
        case CVIPS_KIND_INTERPOLATE: "an interpolator's nickname"
        case CVIPS_KIND_ARRAY_INT: "integers"
        case CVIPS_KIND_ARRAY_DOUBLE: "numbers"
        case CVIPS_KIND_ARRAY_IMAGE: "images"
        default: "a value that this binding does not pass"
        }
    }
}
