import Testing

@testable import Pipeline

struct RightsTests {
    @Test func `rights without any value are empty`() {
        #expect(Rights().isEmpty)
        #expect(!Rights(creator: ["Ana"]).isEmpty)
        #expect(!Rights(licence: "https://example.com").isEmpty)
    }

    @Test func `merging keeps own values and fills the gaps from the other`() {
        let own = Rights(creator: ["Ana"], copyright: "© Ana")
        let other = Rights(
            creator: ["Ben", "Cem"], copyright: "© Ben", credit: "Agency", webStatement: "https://b.example")
        let expected = Rights(creator: ["Ana"], copyright: "© Ana", credit: "Agency", webStatement: "https://b.example")
        #expect(own.merged(over: other) == expected)
        #expect(Rights().merged(over: other) == other)
        #expect(other.merged(over: Rights()) == other)
    }

    @Test func `merging takes a licence together with what kind of address it is`() {
        let licensor = Rights(licence: "https://agency.example", licenceNamesLicensor: true)
        let licence = Rights(licence: "https://creativecommons.org/licenses/by/4.0/")
        #expect(licensor.merged(over: licence) == licensor)
        #expect(licence.merged(over: licensor) == licence)
        #expect(Rights().merged(over: licensor) == licensor)
    }

    @Test func `cleaning trims, drops control characters and makes every line break a line feed`() {
        #expect(Rights.cleaned(" \t\r\n a\u{0}b\u{7F}c\u{9B}d \u{A0}\n") == "abcd")
        #expect(Rights.cleaned("one\r\ntwo\rthree\nfour\tfive") == "one\ntwo\nthree\nfour\tfive")
        #expect(Rights.cleaned("👩‍🚀 é ﷽") == "👩‍🚀 é ﷽")
    }

    @Test(arguments: [0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0xFDD0, 0xFDEF] as [UInt32])
    func `cleaning drops noncharacters`(code: UInt32) throws {
        let noncharacter = try #require(Unicode.Scalar(code))
        #expect(Rights.cleaned("a\(noncharacter)b") == "ab")
    }

    @Test(arguments: ["", " \n\t ", "\u{0}\u{1}", "\r\n\r\n"])
    func `cleaning leaves nil when nothing is left`(value: String) {
        #expect(Rights.cleaned(value) == nil)
        #expect(Rights.cleanedAddress(value) == nil)
    }

    @Test func `a long value is cut and a long address is left out`() {
        let long = String(repeating: "é", count: 5000)
        #expect(Rights.cleaned(long) == String(repeating: "é", count: 4096))
        #expect(Rights.cleanedAddress(long) == nil)
        #expect(Rights.cleanedAddress("https://example.com/\(long.prefix(4000))") != nil)
    }

    @Test func `marks heaped on one letter count one by one`() throws {
        let heap = try #require(Rights.cleaned("a" + String(repeating: "\u{301}", count: 10_000)))
        #expect(heap.unicodeScalars.count == 4096)
    }
}
