/// A value for an argument of a libvips operation. Literals stand for themselves: `["scale": 0.5, "kernel":
/// "lanczos3"]`.
package enum Argument {
    case bool(Bool)
    case int(Int)
    case double(Double)
    /// A string, or the nickname of an enum's value.
    case string(String)
    case image(Image)
    case source(Source)
    case target(Target)
    case ints([Int])
    case doubles([Double])
    case images([Image])
}

extension Argument: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
}
