// "Did you mean": the known word that is nearest to a wrong one.

/// The ending `; did you mean 'x'?` for a word that is not among the known ones, or nothing if none is near.
package func suggestion(for word: String, among known: [String]) -> String {
    nearestWord(to: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
}

/// The known word that was probably meant.
func nearestWord(to word: String, among known: [String]) -> String? {
    if let synonym = Synonyms.word(for: word, among: known) { return synonym }
    let limit = max(1, word.count / 3)
    let near = known.map { (word: $0, distance: editDistance(word.lowercased(), $0.lowercased())) }
        .filter { $0.distance <= limit }
        .min { ($0.distance, $0.word) < ($1.distance, $1.word) }
    let longer = word.count >= 4 ? known.first { $0.hasPrefix(word.lowercased()) } : nil
    return near?.word ?? longer ?? part(of: word, among: known)
}

/// The longest known word of several parts that another notation of the word contains: `aspect-fit` in UIKit's
/// `scaleAspectFit`.
private func part(of word: String, among known: [String]) -> String? {
    let parted = word.reduce(into: "") { $0 += ($1.isUppercase && !$0.isEmpty ? "-" : "") + $1.lowercased() }
    return known.filter { $0.contains("-") && "-\(parted)-".contains("-\($0)-") }.max {
        ($0.count, $1) < ($1.count, $0)
    }
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to make one word of the other.
func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            var best = min(
                current[column] + 1, previous[column + 1] + 1, previous[column] + (left[row] == right[column] ? 0 : 1))
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = min(best, beforePrevious[column - 1] + 1)
            }
            current.append(best)
        }
        beforePrevious = previous
        previous = current
    }
    return previous[right.count]
}
