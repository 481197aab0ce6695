// The references of items of a HEIF or an AVIF to other items. ISO/IEC 14496-12 §8.11.12, ISO/IEC 23008-12 §6.4.7, §6.6.

/// The derivation of items from others.
struct HEIFReferences {
    /// The items that each item is derived from.
    private var sources: [Int: [Int]] = [:]

    init(in source: ByteSource) throws(StructureError) {
        let meta = try ISOBoxes.first("meta", in: source).fullContent()
        for reference in try HEIFItemReferences(in: source, meta).all where reference.type == "dimg" {
            sources[reference.from, default: []] += reference.to
        }
    }

    /// Whether an item is derived from itself, directly or through others. Takes away what is derived from nothing that
    /// is left, as in a topological sort. A chain may be longer than a stack is deep.
    var haveCircle: Bool {
        var waiting = sources.mapValues { Set($0) }
        var users: [Int: [Int]] = [:]
        for (derived, items) in waiting {
            for item in items { users[item, default: []].append(derived) }
        }
        var ready = users.keys.filter { waiting[$0] == nil }
        while let item = ready.popLast() {
            for derived in users[item] ?? [] {
                waiting[derived]?.remove(item)
                if waiting[derived]?.isEmpty == true {
                    waiting[derived] = nil
                    ready.append(derived)
                }
            }
        }
        return waiting.contains { !$0.value.isEmpty }
    }
}

/// The references of items to others: the box `iref`. ISO/IEC 14496-12 §8.11.12.
struct HEIFItemReferences {
    private(set) var all: [(from: Int, type: FourCC, to: [Int])] = []

    init() {}

    init(in source: ByteSource, _ meta: Range<Int>) throws(StructureError) {
        let container = try ISOBoxes.first("iref", in: source, meta)
        var head = ForwardReader(source, in: container.content)
        let idBytes = try head.byte() == 0 ? 2 : 4
        var boxes = ISOBoxes(in: source, try container.fullContent())
        while let box = try boxes.next() {
            var reader = ForwardReader(source, in: box.content)
            let from = try reader.integer(bytes: idBytes)
            var to: [Int] = []
            for _ in 0..<(try reader.integer(bytes: 2)) { to.append(try reader.integer(bytes: idBytes)) }
            all.append((from, box.type, to))
        }
    }

    func targets(of item: Int, _ type: FourCC) -> [Int] {
        all.filter { $0.from == item && $0.type == type }.flatMap(\.to)
    }
}
