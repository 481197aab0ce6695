// Reads the fields that a pipeline asks for out of a picture's metadata.

extension MetadataBlocks {
    /// The values of fields; none for those that the picture lacks.
    /// - Parameter facts: of the picture.
    package func values(of fields: [MetadataField], in facts: SourceFacts) -> [MetadataValue] {
        let packet = fields.contains(where: \.isOfXMP) ? blocks[.xmp].map { XMPElement(packet: $0) } : nil
        return fields.compactMap { field in
            let text: String? =
                switch field.place {
                case .xmp(let name): packet?.property(name)
                case .region: packet?.region().map { facts.upright($0) }
                case .iptc(let dataset): (blocks[.iptc] ?? blocks[.photoshop]).flatMap { iptcText(dataset, in: $0) }
                case .exif(let tag): blocks[.exif].flatMap { exifText(tag, in: $0) } ?? own.text(of: tag)
                }
            return text.flatMap(Rights.cleaned).map { MetadataValue(field, $0) }
        }
    }
}

extension MetadataField {
    fileprivate var isOfXMP: Bool {
        switch place {
        case .xmp, .region: true
        case .iptc, .exif: false
        }
    }
}

extension Statements {
    /// The text of a tag that a file may have outside of EXIF.
    fileprivate func text(of tag: TIFFTag) -> String? {
        switch tag {
        case .imageDescription: caption
        case .artist: rights.creator.isEmpty ? nil : rights.creator.joined(separator: "; ")
        case .copyright: rights.copyright
        default: nil
        }
    }
}

extension SourceFacts {
    /// A place in the picture as it is stored, or as it is seen if it was made for that, in percent of its upright sides.
    fileprivate func upright(_ point: (x: Double, y: Double, size: PixelSize?)) -> String {
        let (x, y) = (point.x, point.y)
        // Some programs write down places in the upright picture, and its size.
        let isUpright = point.size == uprightSize && uprightSize != size
        let seen: (x: Double, y: Double) =
            switch isUpright ? 1 : orientation {
            case 2: (1 - x, y)
            case 3: (1 - x, 1 - y)
            case 4: (x, 1 - y)
            case 5: (y, x)
            case 6: (1 - y, x)
            case 7: (1 - y, 1 - x)
            case 8: (y, 1 - x)
            default: (x, y)
            }
        func percent(_ part: Double) -> String {
            let hundredths = Int((part * 10_000).rounded())
            return hundredths % 100 == 0 ? "\(hundredths / 100)%" : "\(Double(hundredths) / 100)%"
        }
        return percent(seen.x) + " " + percent(seen.y)
    }
}
