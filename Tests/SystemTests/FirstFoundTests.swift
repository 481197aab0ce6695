import Testing

@testable import System

@Suite struct FirstFoundTests {
    /// A disk that gave errors for a moment ended the whole daemon: the second of two probes found nothing.
    @Test func `each element is looked at once, up to the first for which something is found`() {
        var looks: [Int] = []
        let found = [1, 2, 3].firstFound { number -> String? in
            looks.append(number)
            return number == 2 && looks.count { $0 == 2 } == 1 ? "trouble" : nil
        }
        #expect(found == "trouble" && looks == [1, 2])
        #expect([1, 2].firstFound { _ in nil as Int? } == nil)
    }
}
