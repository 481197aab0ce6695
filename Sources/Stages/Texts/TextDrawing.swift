// The pixels of a text: letters, the outline and the shadow around them, and the box below.
import Pipeline
import Typesetting
import Vips

extension TextPlan {
    /// Draws the text.
    /// - Parameter stage: named in warnings.
    func draw(
        on picture: Picture, stage: String, isTiled: Bool = false, keepsAlpha: Bool, in context: RenderContext
    ) throws -> Picture {
        guard !isEmpty else { return picture }
        let drawn: Drawn = try context.onceForAllFrames(identity) {
            try self.drawn(on: picture.size, stage: stage, isTiled: isTiled, in: context)
        }
        switch drawn {
        case .nothing: return picture
        case .once(let text, let place):
            return try picture.drawing(text, alpha: 1, at: place, by: .over, keepsAlpha: keepsAlpha)
        case .tiles(let text, let phase):
            return try picture.drawing(
                text.repeated(from: phase, over: picture.size), alpha: 1, at: PixelOffset(0, 0), by: .over,
                keepsAlpha: keepsAlpha)
        }
    }

    /// A text with all that belongs to it.
    private enum Drawn {
        /// None of it is on the picture.
        case nothing
        case once(Picture, at: PixelOffset)
        /// - Parameter phase: the pixel of the text that is in the picture's top left corner.
        case tiles(Picture, phase: PixelOffset)
    }

    private func drawn(
        on picture: PixelSize, stage: String, isTiled: Bool, in context: RenderContext
    ) throws -> Drawn {
        let fonts = try context.assets.fonts(file)
        let text = try laidOut(by: fonts, stage: stage, notes: context.notes)
        note(text, fonts, stage: stage, in: context.notes)
        let box = box(of: text)
        let padded = box.expanded(by: padding)
        if isTiled, padded.size.width <= picture.width, padded.size.height <= picture.height {
            let phase = PixelOffset(
                positive(-padded.offset.x, modulo: padded.size.width),
                positive(-padded.offset.y, modulo: padded.size.height))
            return .tiles(try drawn(text, box: box, within: padded), phase: phase)
        }
        if box.intersection(with: area) != box {
            context.notes.add(
                Warning(
                    .textCut,
                    "'\(stage)': the text of \(box.size) pixels at \(box.offset) reaches beyond \(area.size); make it smaller, or limit 'max-lines'"
                ))
        }
        guard let visible = padded.expanded(by: reach).intersection(with: picture) else { return .nothing }
        return .once(try drawn(text, box: box, within: visible), at: visible.offset)
    }

    private var file: AssetPath? { if case .file(let path) = font { path } else { nil } }

    // MARK: - The layout

    private func laidOut(by fonts: FontLibrary, stage: String, notes: RenderNotes) throws -> TypesetText {
        var style = style
        do throws(MarkupError) {
            return try fitting(text, style, fonts)
        } catch {
            notes.add(Warning(.badMarkup, "'\(stage)': \(error.message); the text is drawn as it is written"))
            style.isMarkup = false
            do throws(MarkupError) {
                return try fitting(plain, style, fonts)
            } catch {
                throw Failure(.internal, stage: stage, "the text cannot be laid out", detail: error.message)
            }
        }
    }

    /// The text in the largest letters with which it fits, if it is to shrink.
    private func fitting(
        _ text: String, _ style: TypesetStyle, _ fonts: FontLibrary
    ) throws(MarkupError) -> TypesetText {
        guard overflow == .shrink else { return try TypesetText(words(text, style), style, by: fonts) }
        // Smaller letters would not make room for a line that is one too many.
        let text = style.lines.map { joined(text, atMost: $0) } ?? text
        func attempt(_ share: Double, keepsWords: Bool) throws(MarkupError) -> TypesetText {
            var smaller = style
            smaller.size *= share
            smaller.lineHeight *= share
            smaller.keepsWords = keepsWords
            return try TypesetText(words(text, smaller), smaller, by: fonts)
        }
        // Words are broken only if they do not fit in the smallest letters either.
        for keepsWords in [true, false] {
            let whole = try attempt(1, keepsWords: keepsWords)
            if !whole.isCut { return whole }
            var (share, tooLarge) = (Self.smallestShare, 1.0)
            var fits = try attempt(share, keepsWords: keepsWords)
            if fits.isCut { continue }
            for _ in 0..<Self.halvings {
                let middle = (share + tooLarge) / 2
                let found = try attempt(middle, keepsWords: keepsWords)
                if found.isCut { tooLarge = middle } else { (fits, share) = (found, middle) }
            }
            return fits
        }
        var cut = style
        cut.size *= Self.smallestShare
        cut.lineHeight *= Self.smallestShare
        cut.isEllipsized = true
        return try TypesetText(words(text, cut), cut, by: fonts)
    }

    /// The words in no more than so many lines, the last of which go on in one.
    private func joined(_ text: String, atMost lines: Int) -> String {
        var count = 1
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    guard scalar == "\n" else { return scalar }
                    count += 1
                    return count > lines ? "\u{2005}" : scalar
                }))
    }

    /// The words, for Pango: its ellipsis counts the lines of a paragraph, so that all of them are one.
    private func words(_ text: String, _ style: TypesetStyle) -> String {
        guard style.isEllipsized else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" ? "\u{2028}" : $0 }))
    }

    private static let smallestShare = 0.25
    private static let halvings = 7

    /// The box of the lines on the picture.
    private func box(of text: TypesetText) -> PixelBox {
        let size = PixelSize(
            Int(text.width.rounded(.up)), rounded(Double(text.lines) * text.lineHeight))
        var place = anchor.offset(of: size, in: area.size)
        place.x += anchor.inwardX * inset.x + area.offset.x
        place.y += anchor.inwardY * inset.y + area.offset.y
        return PixelBox(place, size)
    }

    private func note(_ text: TypesetText, _ fonts: FontLibrary, stage: String, in notes: RenderNotes) {
        if let family = style.family, !fonts.has(family: family) {
            notes.add(
                Warning(
                    .fontReplaced, "'\(stage)': the font '\(family)' is not installed; '\(text.family)' is used instead"
                ))
        }
        for family in text.families where !fonts.has(family: family) {
            notes.add(
                Warning(
                    .fontReplaced,
                    "'\(stage)': the font '\(family)' of its markup is not installed; another one is used instead"))
        }
        if !text.missing.isEmpty {
            notes.add(
                Warning(.missingGlyphs, "'\(stage)': no font has \(text.missing.written); boxes are drawn for them"))
        }
        if !text.borrowed.isEmpty {
            notes.add(
                Warning(
                    .missingGlyphs,
                    "'\(stage)': '\(text.family)' lacks \(text.borrowed.written), drawn in \(text.lenders) instead"))
        }
        if text.isCut && overflow == .shrink {
            notes.add(
                Warning(
                    .textCut,
                    "'\(stage)': the text does not fit, not even at a quarter of its size; give it more of 'max-width' or 'max-lines'"
                ))
        }
        if text.isCut && overflow == .wrap {
            notes.add(Warning(.textCut, "'\(stage)': the text has more lines than \(text.lines) ('max-lines')"))
        }
    }

    // MARK: - The pixels

    /// All of the text on a transparent canvas.
    private func drawn(_ text: TypesetText, box: PixelBox, within canvas: PixelBox) throws -> Picture {
        let place = PixelOffset(box.offset.x - canvas.offset.x, box.offset.y - canvas.offset.y)
        let x = Double(place.x) + alignedX * (Double(box.size.width) - text.width)
        func coverage(outline: Double = 0, moved: PixelOffset = PixelOffset(0, 0)) throws -> Image {
            let size = canvas.size
            guard
                let bytes = text.coverage(
                    x: x + Double(moved.x), y: Double(place.y + moved.y), outline: outline, width: size.width,
                    height: size.height)
            else {
                throw Failure(
                    .overlayDoesNotFit, stage: Text.name,
                    "the text cannot be drawn: its letters are too large; make the sizes in its markup smaller")
            }
            return try Image(bytes: bytes, width: size.width, height: size.height, bands: 1)
        }
        var layers: [(mask: Image, ink: Ink)] = []
        if let background {
            let padded = PixelBox(place, box.size).expanded(by: padding)
            let radius = min(cornerRadius, Double(min(padded.size.width, padded.size.height)) / 2)
            let mask = Mask.coverage(of: canvas.size, box: padded, PixelCorners(radius))
            layers.append(
                (try Image(bytes: mask, width: canvas.size.width, height: canvas.size.height, bands: 1), background))
        }
        if let shadow {
            let letters = try coverage(outline: outline?.width ?? 0, moved: shadow.offset)
            layers.append((shadow.sigma < 0.2 ? letters : try letters.blurred(sigma: shadow.sigma), shadow.ink))
        }
        if let outline { layers.append((try coverage(outline: outline.width), outline.ink)) }
        layers.append((try coverage(), ink))
        let isGrey = layers.allSatisfy(\.ink.color.isGrey)
        let clear = try Picture(clear: canvas.size).promoted(to: isGrey ? .grey : .rgb)
        let painted = try layers.map { layer in
            try Picture(layer.ink, size: canvas.size).multiplyingAlpha(by: layer.mask)
        }
        guard painted.count > 1 else { return try painted[0].inMemory() }
        return try painted.reduce(clear) {
            try $0.drawing($1, alpha: 1, at: PixelOffset(0, 0), by: .over, keepsAlpha: true)
        }.inMemory()
    }

    /// On which side of the box, whose width is whole, the text is: 0 left, 1 right.
    private var alignedX: Double {
        switch anchor.horizontal {
        case .start: 0
        case .center: 0.5
        case .end: 1
        }
    }
}

extension PixelBox {
    /// The box with room on all sides.
    fileprivate func expanded(by margin: Int) -> PixelBox {
        PixelBox(
            PixelOffset(offset.x - margin, offset.y - margin),
            PixelSize(size.width + 2 * margin, size.height + 2 * margin))
    }

    /// The part that two boxes share; nil if there is none.
    fileprivate func intersection(with other: PixelBox) -> PixelBox? {
        let moved = PixelBox(PixelOffset(offset.x - other.offset.x, offset.y - other.offset.y), size)
        return moved.intersection(with: other.size).map {
            PixelBox(PixelOffset($0.offset.x + other.offset.x, $0.offset.y + other.offset.y), $0.size)
        }
    }
}
