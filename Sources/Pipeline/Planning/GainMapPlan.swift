// The gain map of a rendition, as the stages leave it.

/// How a rendition's gain map is made of the source's.
package struct GainMapPlan: Hashable, Sendable {
    /// Pixels of the rendition's map.
    package let size: PixelSize
    /// From a point of the rendition to one of the picture that comes after each stage, the shared ones first.
    package let toStage: [AffineMap]
    /// The sizes of these pictures: what is outside of one of them was cut off by its stage.
    package let stageSizes: [PixelSize]
    /// From a point of the rendition to one of the upright source.
    package let toSource: AffineMap
    /// The sizes of the upright source and of the rendition.
    package let source, output: PixelSize

    /// - Parameters:
    ///   - map: the size of the source's map, upright.
    ///   - source: that of the picture.
    ///   - steps: shared ones first.
    /// - Returns: nil if the pixels are scattered.
    init?(_ map: PixelSize, of source: PixelSize, following steps: [PlannedStage], to output: PixelSize) {
        var maps: [AffineMap] = [.identity]
        for step in steps.reversed() {
            guard let map = step.plan.footprint.map, let last = maps.last else { return nil }
            maps.append(map.after(last))
        }
        toSource = maps.removeLast()
        toStage = maps.reversed()
        stageSizes = steps.map(\.output.size)
        (self.source, self.output) = (source, output)
        func side(_ output: Int, _ map: Int, _ source: Int) -> Int {
            min(output, max(1, Int((Double(output) * Double(map) / Double(source)).rounded())))
        }
        // At the map's own scale, but no finer than the picture, whatever side of the source lies along which one of the rendition.
        let isTurned = abs(toSource.b) > abs(toSource.a)
        let (across, down) = isTurned ? (map.height, map.width) : (map.width, map.height)
        let (wide, high) = isTurned ? (source.height, source.width) : (source.width, source.height)
        size = PixelSize(side(output.width, across, wide), side(output.height, down, high))
    }
}

extension GainMapPlan {
    /// Whether a point of the rendition is one of the source that no stage has cut off.
    package func isSeen(_ point: PlanePoint) -> Bool {
        // Rounding may put an edge a little outside.
        let margin = 0.01
        return toSource(point).isInside(source, margin: margin)
            && zip(toStage, stageSizes).allSatisfy { $0(point).isInside($1, margin: margin) }
    }

    /// Whether all points of the rendition are.
    package var isSeenWhole: Bool {
        // If its corners are inside of a rectangle, so is all between them.
        Polygon(output).points.allSatisfy(isSeen)
    }
}

extension RenditionPlan {
    /// - Parameter reason: as a sentence without its full stop.
    package func hdrDropped(_ reason: String) -> Warning {
        Warning(.hdrDropped, "'\(title)' is without the picture's light beyond white: \(reason)")
    }

    package var hdrDroppedForNeutral: Warning { hdrDropped("its gain map has no number that leaves light as it is") }

    /// The rendition with the source's gain map, or why it has none.
    /// - Parameter shared: the stages before its own.
    func holding(_ map: GainMapFacts, of source: SourceFacts, after shared: [PlannedStage]) -> (RenditionPlan, Warning?)
    {
        let save = rendition.save
        guard save.keepsHDR else { return (self, nil) }
        func dropped(_ reason: String) -> (RenditionPlan, Warning?) { (self, hdrDropped(reason)) }
        guard format.declaration.holdsGainMap else { return dropped("\(format.rawValue) files have no gain map here") }
        if let flaw = map.flaw { return dropped(flaw.words) }
        guard let size = map.size, map.isReadable else {
            return dropped(
                "its gain map\(map.size.map { " of \($0)" } ?? "") cannot be read, or is larger than the largest that is"
            )
        }
        if source.color?.isHDR == true {
            return dropped("the picture itself is HDR, and its gain map leads to another one")
        }
        if let step = (shared + steps).first(where: { $0.gainMapEffect == .spoils }) {
            return dropped("after '\(step.name)', the gain map does not fit any more")
        }
        let upright = source.orientation >= 5 ? size.transposed : size
        guard
            let plan = GainMapPlan(upright, of: source.uprightSize, following: shared + steps, to: output.size)
        else { return dropped("its parts are in several places") }
        let drawing = (shared + steps).first { $0.gainMapEffect == .draws }
        if !map.hasNeutral, drawing != nil || !plan.isSeenWhole {
            return (self, hdrDroppedForNeutral)
        }
        var held = self
        held.gainMap = plan
        return (held, nil)
    }
}

extension SourcePlan {
    /// Bytes that gain maps take at most: the source's as it is decoded, and copies of pictures that are drawn on.
    static func memory(
        ofMapIn source: SourceFacts, _ renditions: [RenditionPlan], after shared: [PlannedStage]
    ) -> Int {
        guard let map = source.gainMap, let size = map.size, renditions.contains(where: { $0.gainMap != nil }) else {
            return 0
        }
        // Its decoder, coefficients of a progressive one, its pixels twice, and its file.
        let decoder = SourceFacts(format: source.format, size: size).decoderBytes(shrink: 1, to: size)
        let decoding = [12 * size.area, 2 * map.bytes].reduce(decoder, saturating)
        // The map of a rendition with its encoder, and copies of the file that it is put into.
        let made =
            renditions.map { plan in
                plan.gainMap.map { saturating(20 * $0.size.area, plan.output.size.area) } ?? 0
            }.max() ?? 0
        let drawn = (shared + renditions.flatMap(\.steps)).filter { $0.gainMapEffect == .draws }
        return [decoding, made].reduce(
            drawn.map { saturating($0.input.bytes, 3 * $0.output.bytes) }.max() ?? 0, saturating)
    }

    /// Seconds that gain maps may take on a slow machine.
    static func seconds(ofMapIn source: SourceFacts, _ renditions: [RenditionPlan]) -> Double {
        let pixels = Double(source.gainMap?.size?.area ?? 0)
        return Double(renditions.count { $0.gainMap != nil }) * pixels / CostModel.pixelsPerSecond
    }
}

extension PlannedStage {
    /// The stage's effect on this picture's gain map.
    package var gainMapEffect: GainMapEffect { plan.changesNothing ? .follows : plan.gainMapEffect }
}
