// The changes to the metadata of a picture on its way into a rendition.

/// Statements that are made anew, and whether the place goes.
package struct MetadataEdit: Sendable {
    package let statements: Statements
    package let removesLocation: Bool

    package init(stating statements: Statements, removesLocation: Bool) {
        (self.statements, self.removesLocation) = (statements, removesLocation)
    }

    package var changesNothing: Bool { statements.isEmpty && !removesLocation }

    /// A block after an edit.
    struct Edited {
        let bytes: [UInt8]
        /// Everything else that the block had is in it.
        let isWhole: Bool
    }

    /// Bytes of a block beyond which it is not worth the time to edit it.
    private static let largestToEdit = 1 << 20

    /// An XMP packet after the edit. Of one that is not well-formed, or becomes longer than `most` bytes, only rights,
    /// title, caption and keywords stay.
    func xmp(_ packet: [UInt8], most: Int = .max) -> Edited {
        let expected = statements.merged(over: Statements(xmp: packet))
        let removal = XMPRemoval(location: removesLocation, properties: statements.xmpPropertyKinds)
        if packet.count <= Self.largestToEdit, let rest = removal.applied(to: packet),
            let edited = statements.isEmpty ? rest : statements.added(toXMP: rest),
            Statements(xmp: edited) == expected, edited.count <= most
        {
            return Edited(bytes: edited, isWhole: true)
        }
        return Edited(bytes: expected.xmpPacket(), isWhole: false)
    }

    /// An EXIF block after the edit, with `Exif\0\0` in front. Of one that is damaged, or becomes longer than `most`
    /// bytes, only owner and caption stay; it is empty if there is neither.
    func exif(_ block: [UInt8], most: Int = .max) -> Edited {
        if block.count <= Self.largestToEdit, var edited = EXIFBlock(block),
            !removesLocation || edited.removeLocation(),
            edited.state(statements.exifTexts, insteadOf: statements.exifTags),
            edited.marked.count <= most
        {
            return Edited(bytes: edited.marked, isWhole: true)
        }
        let known = statements.merged(over: Statements(exif: block)).exifTexts
        var edited = EXIFBlock()
        return Edited(bytes: !known.isEmpty && edited.state(known) ? edited.marked : [], isWhole: false)
    }
}

extension Statements {
    var exifTexts: [TIFFTag: String] {
        var texts = rights.exifTexts
        texts[.imageDescription] = caption.flatMap { $0.isSafeInEXIF ? $0 : nil }
        return texts
    }

    /// All tags that say what is stated here. A text that is not safe in EXIF is in XMP alone, and what EXIF said must
    /// not contradict it.
    fileprivate var exifTags: Set<TIFFTag> {
        let all: [(isStated: Bool, tags: [TIFFTag])] = [
            (title != nil, [.windowsTitle]), (!keywords.isEmpty, [.windowsKeywords]),
            (caption != nil, [.imageDescription, .windowsComment, .windowsSubject]),
            (!rights.creator.isEmpty, [.artist, .windowsAuthor]), (rights.copyright != nil, [.copyright]),
        ]
        return Set(all.filter(\.isStated).flatMap(\.tags))
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
