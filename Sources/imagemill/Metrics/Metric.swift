// Prometheus' text format: names, help, types, labels, values.
import System

/// One metric with its samples.
struct Metric {
    enum Kind: String { case counter, gauge, histogram }

    private let name: String
    private let head: String
    /// Labels of every sample.
    private let common: [(String, String)]
    private var lines: [String] = []

    init(_ name: String, _ kind: Kind, _ help: String, labels: [(String, String)] = []) {
        self.name = name
        common = labels
        head = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.init(name, kind, help)
        add(value, [])
    }

    /// Nothing if there is no sample.
    var text: String { lines.isEmpty ? "" : head + lines.joined() }

    mutating func add(_ value: Double, _ labels: [(String, String)]) { add("", value, labels) }

    mutating func add(_ histogram: Histogram, _ labels: [(String, String)]) {
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            add("_bucket", Double(count), labels + [("le", Self.number(Double(bound) / 1000))])
        }
        add("_bucket", Double(histogram.total), labels + [("le", "+Inf")])
        add("_sum", Double(histogram.milliseconds) / 1000, labels)
        add("_count", Double(histogram.total), labels)
    }

    private mutating func add(_ suffix: String, _ value: Double, _ labels: [(String, String)]) {
        let list = (common + labels).map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        lines.append("\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    /// Labels are any text, in which three characters have to be written otherwise.
    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\\" ? "\\\\" : $0 == "\"" ? "\\\"" : $0.isNewline ? "\\n" : String($0) }.joined()
    }
}
