// Task numbers as schedulers take them: `3,17,200-210`.

/// Numbers in rising order, as the text that `sbatch --array=` takes.
package struct TaskRanges: Equatable, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ numbers: some Sequence<Int>) {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, number == last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        description = ranges.map { range in
            switch range.count {
            case 1: "\(range.lowerBound)"
            case 2: "\(range.lowerBound),\(range.upperBound)"
            default: "\(range.lowerBound)-\(range.upperBound)"
            }
        }.joined(separator: ",")
    }
}
