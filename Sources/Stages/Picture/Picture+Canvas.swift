// Where pixels are: cut, placed, repeated, joined and scaled.
package import Kernels
package import Pipeline
package import Vips

extension Picture {
    /// A part of the picture; itself if that is all of it.
    package func cropped(to box: PixelBox) throws -> Picture {
        guard box != PixelBox(PixelOffset(0, 0), size) else { return self }
        return with(
            try image.extractArea(left: box.offset.x, top: box.offset.y, width: box.size.width, height: box.size.height)
        )
    }

    /// The picture on a canvas of one colour; what does not fit is cut. Itself if it covers the canvas exactly.
    /// - Parameter background: nil is transparent black.
    func onCanvas(
        _ canvas: PixelSize, at offset: PixelOffset = PixelOffset(0, 0), background: Ink? = nil
    ) throws -> Picture {
        guard offset != PixelOffset(0, 0) || canvas != size else { return self }
        let colour = try background.map(componentsWithAlpha) ?? Array(repeating: 0, count: image.bands)
        return with(
            try image.embed(x: offset.x, y: offset.y, width: canvas.width, height: canvas.height, background: colour))
    }

    /// The picture with another one of the same format in its place. Both may be made of the same rows, which come
    /// once.
    func inserting(_ other: Picture, at offset: PixelOffset) throws -> Picture {
        // So marked, libvips lets go of the rows that the other one was made of when it is past it, whoever else needs
        // them.
        let mark = "vips-sequential"
        let (below, above) = (try image.removingMetadata([mark]), try other.image.removingMetadata([mark]))
        let inserted = try below.insert(above, x: offset.x, y: offset.y)
        return with(
            image.has(mark) || other.image.has(mark) ? try inserted.editingMetadata { $0.set(mark, int: 1) } : inserted)
    }

    /// Another picture of the same format below this one, or beside it.
    func joined(to other: Picture, _ direction: Vips.Direction) throws -> Picture {
        with(try image.join(other.image, direction))
    }

    /// A canvas full of this picture, side by side.
    /// - Parameter phase: the pixel of the picture that is in the canvas's top left corner.
    func repeated(from phase: PixelOffset, over canvas: PixelSize) throws -> Picture {
        let across = (phase.x + canvas.width + width - 1) / width
        let down = (phase.y + canvas.height + height - 1) / height
        var tile = try image.inMemory()
        // libvips counts to a million: several tiles count as one.
        let (wide, high) = (across / 1_000_000 + 1, down / 1_000_000 + 1)
        if wide > 1 || high > 1 { tile = try tile.replicate(across: wide, down: high) }
        let tiled = try tile.replicate(across: (across + wide - 1) / wide, down: (down + high - 1) / high)
        return with(try tiled.extractArea(left: phase.x, top: phase.y, width: canvas.width, height: canvas.height))
    }

    /// The picture as a person sees it.
    /// - Parameter orientation: EXIF's number, 1…8. From 3 on the rows are needed out of order.
    package func upright(orientation: Int) throws -> Picture {
        let image = try withoutOrientation().image
        let turned: Image
        switch orientation {
        case 2: turned = try image.flip(.horizontal)
        case 3: turned = try image.rot(.d180)
        case 4: turned = try image.flip(.vertical)
        case 5: turned = try image.rot(.d90).flip(.horizontal)
        case 6: turned = try image.rot(.d90)
        case 7: turned = try image.rot(.d270).flip(.horizontal)
        case 8: turned = try image.rot(.d270)
        default: turned = image
        }
        return with(turned)
    }

    /// The picture as it is stored, without the note on how to turn it.
    package func withoutOrientation() throws -> Picture {
        with(try image.removingMetadata(["orientation", "exif-ifd0-Orientation"]))
    }
}

// Scaling.
extension Picture {
    /// Scales to a size in pixels.
    package func scaled(to size: PixelSize, kernel: ScalingKernel = .lanczos3, inLinearLight linear: Bool = false)
        throws -> Picture
    {
        guard size != self.size else { return self }
        return linear && kernel != .nearest
            ? try inLinearLight { try $0.scaled(to: size, kernel: kernel) }
            : with(try image.scaled(to: size, kernel: kernel))
    }

    /// The picture after work on light instead of on sRGB's numbers. A kept profile is taken to have sRGB's curve,
    /// which most have.
    private func inLinearLight(_ work: (Image) throws -> Image) throws -> Picture {
        // In floating point: whole numbers of Lab overflow where a curve overshoots white.
        let space: Interpretation = pixels.colour == .lab ? .lab : pixels.interpretation
        // The alpha channel is no light: it goes along as a band of its own, premultiplied into the others.
        let light = try droppingAlpha().inLibvipsNumbers.colourspace(.scrgb)
        guard let ownAlpha = try alpha else { return with(try fromLibvips(work(light).colourspace(space))) }
        // In its own range, since libvips takes an alpha below 0.01 for none.
        let alpha = try ownAlpha.cast(.float)
        let covered = try light.multiply(alpha.linear([1 / white], [0]))
        let worked = try work(covered.bandjoin(alpha).copy(interpretation: .multiband))
        let coverage = try worked.extractBands(from: worked.bands - 1, count: 1)
        let colour = try worked.unpremultiply(maximumAlpha: white).extractBands(from: 0, count: worked.bands - 1)
        let back = try fromLibvips(colour.copy(interpretation: .scrgb).colourspace(space))
        return with(try back.bandjoin(coverage.rint().cast(image.format)).copy(interpretation: pixels.interpretation))
    }
}

extension Image {
    /// Scales so that the longer side has this many pixels.
    package func scaled(toFit side: Int) throws -> Image {
        try scaled(to: ScalingMode.aspectFit.size(of: PixelSize(width, height), in: PixelSize(side, side)))
    }

    /// Scales to a size in pixels.
    package func scaled(to size: PixelSize, kernel: ScalingKernel = .lanczos3) throws -> Image {
        guard width != size.width || height != size.height else { return self }
        return try resampled(
            to: ResamplingTarget(width: size.width, height: size.height, kernel: kernel))
    }
}
