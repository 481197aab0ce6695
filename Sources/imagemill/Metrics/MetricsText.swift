// Prometheus' text format: names, help, types, labels, values.
import Pipeline

/// How many values are at most as large as each of some bounds.
struct Histogram {
    static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
    private(set) var buckets = [Int](repeating: 0, count: bounds.count)
    private(set) var count = 0
    private(set) var sum = 0.0

    mutating func add(_ value: Double) {
        for index in Self.bounds.indices where value <= Self.bounds[index] { buckets[index] += 1 }
        count += 1
        sum += value
    }
}

/// Prometheus' text format.
struct MetricsText {
    typealias Label = (name: String, value: String)

    private let labels: [Label]
    private(set) var text = ""

    /// - Parameter labels: of every line.
    init(labels: [Label]) { self.labels = labels }

    /// Adds a metric; nothing if it has no values.
    mutating func add(_ name: String, _ help: String, _ type: String, _ values: [([Label], Double)]) {
        guard !values.isEmpty else { return }
        begin(name, help, type)
        for (labels, value) in values { line(name, labels, value) }
    }

    mutating func add(_ name: String, _ help: String, histograms: [([Label], Histogram)]) {
        begin(name, help, "histogram")
        for (labels, histogram) in histograms {
            for (bound, count) in zip(Histogram.bounds, histogram.buckets) {
                line(name + "_bucket", labels + [("le", written(bound))], Double(count))
            }
            line(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
            line(name + "_sum", labels, (histogram.sum * 1000).rounded() / 1000)
            line(name + "_count", labels, Double(histogram.count))
        }
    }

    private mutating func begin(_ name: String, _ help: String, _ type: String) { text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n" }

    private mutating func line(_ name: String, _ own: [Label], _ value: Double) {
        let all = (labels + own).map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
        text += "\(name)\(all.isEmpty ? "" : "{\(all)}") \(written(value))\n"
    }

    private func written(_ value: Double) -> String { writtenNumber(value) }

    private func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
