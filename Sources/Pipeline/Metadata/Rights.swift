// The maker, the owner and the terms of use of a picture: the part of its metadata that the default policy keeps. Knows
// nothing of files or libvips; XMPRights.swift and IPTCRights.swift read it out of their blocks.

/// The authorship and licence of a picture, each value as plain text.
///
/// Everything read from a file has been through ``cleaned(_:)`` or ``cleanedAddress(_:)``, so it is short, trimmed
/// and free of control characters. What it says is still a stranger's claim: escape it wherever it is written.
package struct Rights: Equatable, Sendable {
    /// The people who made the picture, in the file's order (XMP `dc:creator`, IPTC by-line).
    package var creator: [String]
    /// The copyright notice (XMP `dc:rights`, IPTC copyright notice).
    package var copyright: String?
    /// The credit line that has to be printed with the picture (XMP `photoshop:Credit`, IPTC credit).
    package var credit: String?
    /// How the picture may be used, in words (XMP `xmpRights:UsageTerms`).
    package var usageTerms: String?
    /// The address of a page that states the rights (XMP `xmpRights:WebStatement`).
    package var webStatement: String?
    /// The address of the licence (XMP `cc:license`), else of a place to obtain one (XMP `plus:LicensorURL`).
    package var licence: String?
    /// True when ``licence`` is a `plus:LicensorURL`. The two mean different things ("this licence is granted" and
    /// "ask here for a licence"), so each is written back as what it was.
    package var licenceNamesLicensor: Bool

    package init(
        creator: [String] = [],
        copyright: String? = nil,
        credit: String? = nil,
        usageTerms: String? = nil,
        webStatement: String? = nil,
        licence: String? = nil,
        licenceNamesLicensor: Bool = false
    ) {
        self.creator = creator
        self.copyright = copyright
        self.credit = credit
        self.usageTerms = usageTerms
        self.webStatement = webStatement
        self.licence = licence
        self.licenceNamesLicensor = licenceNamesLicensor
    }

    /// True when there is nothing to keep.
    package var isEmpty: Bool {
        creator.isEmpty && [copyright, credit, usageTerms, webStatement, licence].allSatisfy { $0 == nil }
    }

    /// These rights, with each value they lack taken from `other`. Two lists of creators are not mixed, because one
    /// person is often spelled differently in XMP and IPTC.
    package func merged(over other: Rights) -> Rights {
        Rights(
            creator: creator.isEmpty ? other.creator : creator,
            copyright: copyright ?? other.copyright,
            credit: credit ?? other.credit,
            usageTerms: usageTerms ?? other.usageTerms,
            webStatement: webStatement ?? other.webStatement,
            licence: licence ?? other.licence,
            licenceNamesLicensor: licence == nil ? other.licenceNamesLicensor : licenceNamesLicensor
        )
    }

    /// The values that `other` has not.
    func lacking(in other: Rights) -> Rights {
        Rights(
            creator: other.creator.isEmpty ? creator : [],
            copyright: other.copyright == nil ? copyright : nil,
            credit: other.credit == nil ? credit : nil,
            usageTerms: other.usageTerms == nil ? usageTerms : nil,
            webStatement: other.webStatement == nil ? webStatement : nil,
            licence: other.licence == nil ? licence : nil,
            licenceNamesLicensor: licenceNamesLicensor
        )
    }
}

extension Rights {
    /// A value is cut after this many Unicode scalars.
    package static let longestValue = 4096
    /// A list of creators is cut after this many.
    package static let mostCreators = 64

    /// `value` without white space around it, control characters and anything past ``longestValue``; every kind of
    /// line break becomes a line feed. Nil when nothing is left.
    package static func cleaned(_ value: String) -> String? {
        var kept = String.UnicodeScalarView()
        var length = 0
        var previous: Unicode.Scalar?
        for scalar in value.unicodeScalars where length < longestValue {
            defer { previous = scalar }
            if scalar == "\n" && previous == "\r" { continue }
            guard let clean = cleaned(scalar), length > 0 || !clean.properties.isWhitespace else { continue }
            kept.append(clean)
            length += 1
        }
        // One that was cut keeps its length, by which it is known that it was.
        while length < longestValue, let last = kept.last, last.properties.isWhitespace { kept.removeLast() }
        return kept.isEmpty ? nil : String(kept)
    }

    /// The same for an address. One that is too long is left out, because half an address leads somewhere else.
    package static func cleanedAddress(_ value: String) -> String? {
        cleaned(value).flatMap { $0.unicodeScalars.count < longestValue ? $0 : nil }
    }

    /// Nil for what XML 1.0 forbids or discourages in text: control characters and noncharacters.
    /// https://www.w3.org/TR/xml/#charsets
    private static func cleaned(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x09, 0x0A: scalar
        case 0x0D, 0x85: "\n"
        case 0x00...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: nil
        case let value where value & 0xFFFE == 0xFFFE: nil
        default: scalar
        }
    }
}
