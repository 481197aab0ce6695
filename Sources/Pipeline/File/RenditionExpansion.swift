// The renditions that one entry with `widths` or several formats makes: one for each width and format, as if each was
// written out.

struct RenditionExpansion {
    /// One of the renditions: what it has instead of the lists.
    struct Part {
        let width: Int?
        /// Scales to the width.
        let resize: [StageUse]
        let way: SaveWay
        /// The rendition as it would be written alone.
        let node: YAMLNode
    }

    private let group: RenditionGroup
    private let position: Position
    private let node: YAMLNode

    init(_ group: RenditionGroup, at position: Position, of node: YAMLNode) {
        (self.group, self.position, self.node) = (group, position, node)
    }

    func parts(_ log: inout ReadingLog) -> [Part] {
        guard let widths = group.widths?.widths else { return parts(width: nil, resize: nil, &log) }
        return widths.flatMap { parts(width: $0, resize: resize(to: $0), &log) }
    }

    private func parts(width: Int?, resize: YAMLNode?, _ log: inout ReadingLog) -> [Part] {
        let list = resize.map { YAMLNode(content: .list([$0]), position: position) }
        let use = list.flatMap { StageList.read($0, &log)?.uses } ?? []
        return group.save.ways.map { Part(width: width, resize: use, way: $0, node: alone(resize, $0)) }
    }

    /// `resize: { size: "320x>" }`.
    private func resize(to width: Int) -> YAMLNode {
        func mapping(_ key: String, _ value: YAMLNode) -> YAMLNode {
            YAMLNode(
                content: .mapping([YAMLNode.Entry(key: key, keyPosition: position, value: value)]), position: position)
        }
        return mapping("resize", mapping("size", YAMLNode(text: "\(width)x>", position: position)))
    }

    private func alone(_ resize: YAMLNode?, _ way: SaveWay) -> YAMLNode {
        guard case .mapping(let entries) = node.content else { return node }
        var alone = entries.filter { $0.key != "widths" }.map { $0.key == "save" ? $0.with(way.node) : $0 }
        if let resize {
            let stages = alone.first { $0.key == "stages" }
            var items: [YAMLNode] = []
            if case .list(let written)? = stages?.value.content { items = written }
            let list = YAMLNode(content: .list(items + [resize]), position: position)
            alone =
                alone.filter { $0.key != "stages" } + [
                    YAMLNode.Entry(key: "stages", keyPosition: position, value: list)
                ]
        }
        return YAMLNode(content: .mapping(alone), position: node.position)
    }
}
