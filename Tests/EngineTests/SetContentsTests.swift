// The contents of a set's folder, as far as it is looked into.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SetContentsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func contents(most: Int) throws -> SetContents {
        try SetContents(of: Directory(BytePath(folder.path)), ignored: IgnoredNames(), most: most)
    }

    @Test func `of a folder with more files than a set may have, a part is looked at, and nothing counts as cleared`()
        throws
    {
        for number in 0..<7 { try folder.write("x", to: "\(number % 3)/\(number).png") }
        let all = try contents(most: 7)
        #expect(all.members.count == 7 && all.excess == nil)
        try all.checkExcess(BytePath("set"))
        let part = try contents(most: 6)
        #expect(part.members.count == 7 && part.excess == .count && !part.isCleared)
        #expect(try contents(most: 3).members.count == 4)
        let failure = #expect(throws: Failure.self) { try part.checkExcess(BytePath("set")) }
        #expect(failure?.code == .tooManyMembers)
        #expect(failure?.message == "the set has more than 50000 files, which is the limit; divide it")
    }

    @Test func `folders and ignored names have the same bound`() throws {
        for number in 0..<9 { try folder.write("x", to: ".hidden-\(number)") }
        let part = try contents(most: 5)
        #expect(part.members.isEmpty && part.others.count == 6 && part.excess == .count && !part.isCleared)
        let other = try TemporaryFolder()
        try other.write("x", to: "1.png")
        for number in 0..<9 { try other.write("x", to: "\(number)/.hidden") }
        for most in [3, 8] {
            let part = try SetContents(of: Directory(BytePath(other.path)), ignored: IgnoredNames(), most: most)
            #expect(part.folders.count + part.others.count == most + 1 && part.excess == .count)
        }
    }

    @Test func `members are in natural order, however the folder lists them`() throws {
        let names = (1...40).map { "\($0).png" } + ["a/\(1).png", "a/10.png", "a/2.png"]
        for name in names.shuffled() { try folder.write("x", to: name) }
        let found = try contents(most: 100).members.map(\.path.text)
        #expect(found == (1...40).map { "\($0).png" } + ["a/1.png", "a/2.png", "a/10.png"])
    }

    @Test func `a set of too many members is refused before one of them is opened`() {
        let member = SourceFile(
            location: .path(BytePath("/nowhere")), identity: BytePath("/nowhere"), relative: BytePath("nowhere"))
        let failure = #expect(throws: Failure.self) {
            try OpenedSet(Array(repeating: member, count: OpenedSet.most + 1), limits: Limits())
        }
        #expect(failure?.code == .tooManyMembers)
    }
}
