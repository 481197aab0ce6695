// What changes in the metadata of a picture on its way into a rendition.

/// Statements that are made anew, and whether the place goes.
package struct MetadataEdit: Sendable {
    package let statements: Statements
    package let removesLocation: Bool

    package init(stating statements: Statements, removesLocation: Bool) {
        (self.statements, self.removesLocation) = (statements, removesLocation)
    }

    /// A JPEG's segment has two bytes for its length.
    package static let longestEXIF = 0xFFFF - 2

    package var changesNothing: Bool { statements.isEmpty && !removesLocation }

    /// An XMP packet after the edit. Of one that is not well-formed, or becomes longer than `most` bytes, only rights,
    /// title, caption and keywords stay.
    package func xmp(_ packet: [UInt8], most: Int = .max) -> [UInt8] {
        let expected = statements.merged(over: Statements(xmp: packet))
        let removal = XMPRemoval(location: removesLocation, properties: statements.xmpPropertyKinds)
        if let rest = removal.applied(to: packet),
            let edited = statements.isEmpty ? rest : statements.added(toXMP: rest),
            Statements(xmp: edited) == expected, edited.count <= most
        {
            return edited
        }
        return expected.xmpPacket()
    }

    /// An EXIF block after the edit, with `Exif\0\0` in front. Of one that is damaged, or becomes longer than a JPEG
    /// holds, only owner and caption stay.
    package func exif(_ block: [UInt8]) -> [UInt8]? {
        let texts = statements.exifTexts
        if var edited = EXIFBlock(block), !removesLocation || edited.removeLocation(),
            edited.state(texts),
            edited.marked.count <= Self.longestEXIF
        {
            return edited.marked
        }
        let known = statements.merged(over: Statements(exif: block)).exifTexts
        var edited = EXIFBlock()
        return !known.isEmpty && edited.state(known) ? edited.marked : nil
    }
}

extension Statements {
    fileprivate var exifTexts: [TIFFTag: String] {
        var texts = rights.exifTexts
        texts[.imageDescription] = caption.flatMap { $0.isSafeInEXIF ? $0 : nil }
        return texts
    }

    /// The properties that it states.
    fileprivate var xmpPropertyKinds: Set<XMPProperty> {
        let all: [(XMPProperty, Bool)] = [
            (.creator, !rights.creator.isEmpty), (.copyright, rights.copyright != nil), (.credit, rights.credit != nil),
            (.usageTerms, rights.usageTerms != nil), (.webStatement, rights.webStatement != nil),
            // A licence that is granted and a place to ask for one are one statement.
            (.licence, rights.licence != nil), (.licensorURL, rights.licence != nil), (.title, title != nil),
            (.caption, caption != nil), (.keywords, !keywords.isEmpty),
        ]
        return Set(all.filter(\.1).map(\.0))
    }
}
