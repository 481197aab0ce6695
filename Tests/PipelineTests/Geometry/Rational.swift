// Exact fractions, as a second opinion on the program's rounding.

/// A fraction with a positive denominator; not reduced.
struct Rational: Comparable {
    let numerator: Int
    let denominator: Int

    init(_ numerator: Int, _ denominator: Int = 1) {
        precondition(denominator > 0)
        self.numerator = numerator
        self.denominator = denominator
    }

    static func == (left: Rational, right: Rational) -> Bool {
        left.numerator * right.denominator == right.numerator * left.denominator
    }
    static func < (left: Rational, right: Rational) -> Bool {
        left.numerator * right.denominator < right.numerator * left.denominator
    }
    static func * (left: Int, right: Rational) -> Rational { Rational(left * right.numerator, right.denominator) }

    var floor: Int {
        let quotient = numerator / denominator
        return numerator < quotient * denominator ? quotient - 1 : quotient
    }

    /// Half away from zero.
    var rounded: Int {
        let twice = Rational(abs(numerator) * 2 + denominator, 2 * denominator).floor
        return numerator < 0 ? -twice : twice
    }
}
