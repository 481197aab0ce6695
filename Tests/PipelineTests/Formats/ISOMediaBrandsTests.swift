import Testing

@testable import Pipeline

struct ISOMediaBrandsTests {
    private func guess(_ major: String, _ compatible: String...) -> FormatGuess {
        guessFormat(HEIFBuilder.box("ftyp", Array((major + "\0\0\0\0" + compatible.joined()).utf8)))
    }

    @Test(arguments: ["heic", "heix", "hevc", "hevx", "heim", "heis"])
    func `HEIF coded as HEVC is recognized by its major brand`(brand: String) {
        #expect(guess(brand) == .readable(.heic))
    }

    @Test(arguments: ["avif", "avis"])
    func `AVIF is recognized by its major brand`(brand: String) {
        #expect(guess(brand, "mif1") == .readable(.avif))
    }

    @Test(arguments: ["mif1", "msf1"])
    func `a major brand that does not say the coding leaves it to the compatible ones`(major: String) {
        #expect(guess(major, "mif1", "heic") == .readable(.heic))
        #expect(guess(major, "miaf", "avif") == .readable(.avif))
        #expect(guess(major, "mif1", "jpeg") == .recognised("HEIF that is coded neither as HEVC nor as AV1"))
    }

    @Test(arguments: [
        ("isom", FormatGuess.noPicture("MP4 video")), ("mp42", .noPicture("MP4 video")),
        ("qt  ", .noPicture("QuickTime video")), ("M4A ", .noPicture("MPEG-4 audio")),
        ("crx ", .cameraRaw("RAW: Canon CR3")), ("jp2 ", .recognised("JPEG 2000")),
        ("jxl ", .recognised("JPEG XL")),
    ])
    func `other ISO media are called by name`(brand: String, kind: FormatGuess) {
        #expect(guess(brand, "isom") == kind)
    }

    @Test func `brands after the end of the box do not count`() {
        #expect(guessFormat(HEIFBuilder.box("ftyp", Array("mif1\0\0\0\0".utf8)) + Array("heic".utf8)) == guess("mif1"))
    }
}
