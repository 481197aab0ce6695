// Numbers with a unit behind, as options take them.
import ArgumentParser

/// A count such as `300M`: K, M and G stand for thousands, millions and thousand millions.
struct Count: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        guard let value = scaled(argument, by: 1000) else { return nil }
        self.value = value
    }
}

/// Bytes such as `512M`: K, M and G stand for KiB, MiB and GiB.
struct ByteCount: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        guard let value = scaled(argument, by: 1024) else { return nil }
        self.value = value
    }
}

private func scaled(_ text: String, by step: Int) -> Int? {
    let units: [Character: Int] = ["K": 1, "M": 2, "G": 3]
    var digits = text[...]
    var factor = 1
    if let unit = text.last?.uppercased().first, let power = units[unit] {
        digits.removeLast()
        for _ in 0..<power { factor *= step }
    }
    guard let number = Int(digits), number > 0 else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : value
}
