// Admission by predicted memory: one huge picture runs alone, forty small ones together.

/// The memory that all workers may use together.
package actor MemoryBudget {
    private let total: Int
    private var free: Int
    /// First come, first served, so that a huge picture is not overtaken for ever.
    private var waiting: [(bytes: Int, continuation: CheckedContinuation<Void, Never>)] = []

    package init(bytes: Int) {
        total = bytes
        free = bytes
    }

    /// Waits until so many bytes are free, and takes them.
    func acquire(_ bytes: Int) async {
        let bytes = min(bytes, total)
        if waiting.isEmpty && bytes <= free {
            free -= bytes
        } else {
            await withCheckedContinuation { waiting.append((bytes, $0)) }
        }
    }

    func release(_ bytes: Int) {
        free += min(bytes, total)
        while let first = waiting.first, first.bytes <= free {
            free -= first.bytes
            waiting.removeFirst().continuation.resume()
        }
    }
}
