// The stability check. Time is a number here, and no file is touched.
import Pipeline
import Testing

@testable import Engine
@testable import System

@Suite struct SettlingTests {
    private let times = SettleTimes()
    private let full = Examination(hasWriter: nil, structure: .complete)
    private let torn = Examination(hasWriter: nil, structure: .incomplete)
    private let strange = Examination(hasWriter: nil, structure: .unknown)

    private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9)) }

    private func file(bytes: Int = 100, modified: Int = 5, changed: Int = 5, inode: UInt64 = 7) -> FileStatus {
        FileStatus(identity: FileIdentity(device: 1, inode: inode), bytes: bytes, modified: modified, changed: changed)
    }

    @Test func `a file that was there already is examined once it has been the same for the settle time`() {
        var one = Settling(at: at(0))
        #expect(one.look(file(), at: at(0), times: times) == .wait(until: at(2)))
        #expect(one.look(file(), at: at(2), times: times) == .examine)
        #expect(one.examined(full, at: at(2), times) == .ready)
    }

    @Test func `a file that a person wants tried now waits for the settle time only, until somebody writes to it`() {
        for bytes in [0, 100] {
            var one = Settling(at: at(0))
            one.recordFinish(at: at(0))
            one.hasten()
            if one.look(file(bytes: bytes), at: at(0), times: times) == .examine {
                #expect(one.examined(torn, at: at(0), times) == .wait(until: at(2)))
            }
            #expect(one.look(file(bytes: bytes), at: at(2), times: times) == (bytes == 0 ? .ready : .examine))
            #expect(one.examined(torn, at: at(2), times) == .ready)
            #expect(one.deadline(times) == at(2))
            one.recordWriting(at: at(3))
            #expect(one.deadline(times) == at(603))
            one.hasten()
            _ = one.look(file(bytes: 101), at: at(4), times: times)
            #expect(one.deadline(times) == at(604))
        }
    }

    @Test(arguments: ["bytes", "modified", "changed", "inode"])
    func `every kind of change starts the time anew`(what: String) {
        var one = Settling(at: at(0))
        _ = one.look(file(), at: at(0), times: times)
        let other = file(
            bytes: what == "bytes" ? 101 : 100, modified: what == "modified" ? 6 : 5,
            changed: what == "changed" ? 6 : 5,
            inode: what == "inode" ? 8 : 7)
        #expect(one.look(other, at: at(2), times: times) == .wait(until: at(4)))
        #expect(one.look(other, at: at(4), times: times) == .examine)
    }

    @Test func `a file that was closed or moved in, and whose structure is complete, is ready at once`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0.1))
        #expect(one.look(file(), at: at(0.1), times: times) == .examine)
        #expect(one.examined(full, at: at(0.1), times) == .ready)
    }

    @Test func `a closed file of which the structure says nothing waits for the settle time, and no longer`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(1))
        #expect(one.look(file(), at: at(1), times: times) == .examine)
        #expect(one.examined(strange, at: at(1), times) == .wait(until: at(3)))
        #expect(one.look(file(), at: at(3), times: times) == .examine)
        #expect(one.examined(strange, at: at(3), times) == .ready)
    }

    @Test
    func `a file that was written to and not closed is not taken, however complete it looks, before its time is over`()
    {
        var one = Settling(at: at(0))
        one.recordWriting(at: at(0))
        _ = one.look(file(), at: at(0), times: times)
        var now = 2.0
        var looks = 0
        while now < 600 {
            #expect(one.look(file(), at: at(now), times: times) == .examine)
            guard case .wait(let next) = one.examined(full, at: at(now), times) else {
                Issue.record("taken after \(now) s")
                return
            }
            #expect(next > at(now) && next <= at(now + 30))
            now = Double(next.nanoseconds - at(0).nanoseconds) / 1e9
            looks += 1
        }
        #expect(now == 600 && looks < 30)
        _ = one.look(file(), at: at(600), times: times)
        #expect(one.examined(full, at: at(600), times) == .ready)
    }

    @Test func `where the system says that nobody writes, a close that was missed does not matter`() {
        var one = Settling(at: at(0))
        one.recordWriting(at: at(0))
        _ = one.look(file(), at: at(2), times: times)
        #expect(one.examined(Examination(hasWriter: false, structure: .complete), at: at(2), times) == .ready)
    }

    @Test func `where the system says that somebody writes, a file is not taken, even moved in and complete`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        _ = one.look(file(), at: at(0), times: times)
        #expect(
            one.examined(Examination(hasWriter: true, structure: .complete), at: at(0), times) == .wait(until: at(2)))
        #expect(one.look(file(), at: at(2), times: times) == .examine)
        #expect(
            one.examined(Examination(hasWriter: true, structure: .complete), at: at(2), times) == .wait(until: at(6)))
    }

    @Test func `what looks torn waits longer and longer, and then is decoded anyway`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        _ = one.look(file(), at: at(0), times: times)
        var pauses: [Int64] = []
        var now = at(0)
        while case .wait(let next) = one.examined(torn, at: now, times) {
            pauses.append((next.nanoseconds - now.nanoseconds) / 1_000_000_000)
            now = next
            #expect(one.look(file(), at: now, times: times) == .examine)
        }
        #expect(pauses.prefix(5) == [2, 4, 8, 16, 30])
        #expect(now == at(600))
    }

    @Test func `a copy that goes on after a long pause is taken only when it is complete`() {
        var one = Settling(at: at(0))
        _ = one.look(file(), at: at(2), times: times)
        _ = one.examined(torn, at: at(2), times)
        // The rest comes.
        #expect(one.look(file(bytes: 200), at: at(6), times: times) != .examine)
        #expect(one.look(file(bytes: 200), at: at(8), times: times) == .examine)
        #expect(one.examined(full, at: at(8), times) == .ready)
    }

    @Test func `a file without bytes is ready after its own time, and one that is open after the longer one`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        #expect(one.look(file(bytes: 0), at: at(0), times: times) == .wait(until: at(60)))
        #expect(one.deadline(times) == at(60))
        #expect(one.look(file(bytes: 0), at: at(60), times: times) == .ready)
        var open = Settling(at: at(0))
        open.recordWriting(at: at(0))
        #expect(open.look(file(bytes: 0), at: at(60), times: times) == .wait(until: at(600)))
    }

    @Test func `a file that grows is looked at less and less often, but at least every quarter of a minute`() {
        var one = Settling(at: at(0))
        var now = at(0)
        var pauses: [Int64] = []
        for step in 1...12 {
            guard case .wait(let next) = one.look(file(bytes: 100 * step), at: now, times: times) else { break }
            pauses.append((next.nanoseconds - now.nanoseconds) / 1_000_000_000)
            now = next
        }
        #expect(pauses.count == 12 && pauses.first == 2 && pauses.last == 15)
        #expect(pauses == pauses.sorted())
    }

    @Test func `a close counts for what is there then, and not for what somebody writes afterwards`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        _ = one.look(file(), at: at(0), times: times)
        _ = one.examined(torn, at: at(0), times)
        // It changes without a word: an mmap, or another machine.
        #expect(one.look(file(modified: 6), at: at(2), times: times) == .wait(until: at(4)))
    }

    @Test func `after lost events, an open file is judged by time again`() {
        var one = Settling(at: at(0))
        one.recordWriting(at: at(0))
        one.forgetWriter()
        _ = one.look(file(), at: at(2), times: times)
        #expect(one.examined(full, at: at(2), times) == .ready)
    }

    @Test func `a set is complete by quiet alone, not by the end of one of its files; or when it says so`() {
        let quiet = SettleTimes(settle: .seconds(5))
        var one = Settling(at: at(0), isSet: true)
        one.recordFinish(at: at(1))
        #expect(one.look(file(), at: at(1), times: quiet) == .wait(until: at(6)))
        #expect(one.look(file(), at: at(6), times: quiet) == .examine)
        #expect(
            one.look(file(bytes: 300), signs: UploadSigns(isDeclaredComplete: true), at: at(7), times: quiet)
                == .examine)
        let found = Examination(hasWriter: false, structure: .incomplete)
        #expect(one.examined(found, at: at(7), quiet) == .ready)
    }

    @Test func `a set that is declared complete waits for whoever still writes to a member, but not for ever`() {
        let quiet = SettleTimes(settle: .seconds(5), incompleteAfter: .seconds(100))
        let declared = UploadSigns(isDeclaredComplete: true)
        func set() -> Settling {
            var one = Settling(at: at(0), isSet: true)
            one.recordWriting(at: at(1))
            #expect(one.look(file(), signs: declared, at: at(1), times: quiet) == .examine)
            return one
        }
        for hasWriter in [false, nil] {
            var one = set()
            let found = Examination(hasWriter: hasWriter, structure: .incomplete)
            #expect(one.examined(found, at: at(1), quiet) == .ready, "\(String(describing: hasWriter))")
        }
        var one = set()
        let open = Examination(hasWriter: true, structure: .unknown)
        guard case .wait = one.examined(open, at: at(1), quiet) else {
            Issue.record("it is taken while somebody writes")
            return
        }
        #expect(one.reason == .open)
        #expect(one.examined(open, at: at(101), quiet) == .ready)
    }

    @Test func `times of files mean nothing but change: from 1970, from 2099, and going backwards`() {
        var one = Settling(at: at(0))
        _ = one.look(file(modified: 4_070_908_800_000_000_000, changed: 0), at: at(0), times: times)
        #expect(one.look(file(modified: 4_070_908_800_000_000_000, changed: 0), at: at(2), times: times) == .examine)
        #expect(one.look(file(modified: 0, changed: -5), at: at(3), times: times) == .wait(until: at(5)))
    }

    @Test func `a change under a name that is passed over starts the quiet time of a set anew`() {
        let quiet = SettleTimes(settle: .seconds(5))
        var one = Settling(at: at(0), isSet: true)
        _ = one.look(file(), signs: UploadSigns(leftovers: 1), at: at(0), times: quiet)
        #expect(one.look(file(), signs: UploadSigns(leftovers: 2), at: at(4), times: quiet) == .wait(until: at(9)))
        #expect(one.look(file(), signs: UploadSigns(leftovers: 2), at: at(9), times: quiet) == .examine)
    }

    @Test(arguments: [false, true])
    func `a set with an unfinished name waits until the name is gone, also with .done`(isDeclared: Bool) {
        let quiet = SettleTimes(settle: .seconds(5))
        var one = Settling(at: at(0), isSet: true)
        #expect(
            one.look(file(), signs: UploadSigns(isDeclaredComplete: isDeclared, unfinished: 1), at: at(6), times: quiet)
                == .wait(until: at(11)))
        // The unfinished file grows: that is activity.
        #expect(
            one.look(
                file(), signs: UploadSigns(isDeclaredComplete: isDeclared, unfinished: 2), at: at(11), times: quiet)
                == .wait(until: at(16)))
        let after = one.look(
            file(bytes: 200), signs: UploadSigns(isDeclaredComplete: isDeclared), at: at(16), times: quiet)
        #expect(isDeclared == (after == .examine))
        #expect(
            one.look(file(bytes: 200), signs: UploadSigns(isDeclaredComplete: isDeclared), at: at(21), times: quiet)
                == .examine)
    }

    @Test(arguments: [false, true])
    func `an unfinished name that does not change delays a set up to incomplete-after, with pauses that grow`(
        isDeclared: Bool
    ) {
        let quiet = SettleTimes(settle: .seconds(5))
        let signs = UploadSigns(isDeclaredComplete: isDeclared, unfinished: 1)
        var one = Settling(at: at(0), isSet: true)
        var now = at(0)
        var pauses: [Int64] = []
        while case .wait(let next) = one.look(file(), signs: signs, at: now, times: quiet) {
            pauses.append((next.nanoseconds - now.nanoseconds) / 1_000_000_000)
            now = next
        }
        #expect(now == at(600) && pauses.prefix(5) == [5, 10, 20, 30, 30])
        #expect(one.look(file(), signs: signs, at: now, times: quiet) == .examine)
        #expect(one.examined(torn, at: now, quiet) == .ready)
    }

    @Test func `a picture whose writer is done waits the settle time for a sidecar, and with it`() {
        let version = FileVersion(device: 1, inode: 9, bytes: 4, modified: 5)
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        #expect(one.look(file(), signs: UploadSigns(sidecar: .awaited), at: at(0), times: times) == .wait(until: at(2)))
        #expect(one.look(file(), signs: UploadSigns(sidecar: .awaited), at: at(2), times: times) == .examine)
        var other = Settling(at: at(0))
        other.recordFinish(at: at(0))
        // Nobody knows that one is whole which was there already.
        for (now, expected) in [(0, Settling.Verdict.wait(until: at(2))), (2, .examine)] {
            #expect(
                other.look(file(), signs: UploadSigns(sidecar: .found([version])), at: at(Double(now)), times: times)
                    == expected)
        }
        // It comes, and changes, while the picture settles.
        var late = Settling(at: at(0))
        late.recordFinish(at: at(0))
        _ = late.look(file(), signs: UploadSigns(sidecar: .awaited), at: at(0), times: times)
        #expect(
            late.look(file(), signs: UploadSigns(sidecar: .found([version])), at: at(1), times: times)
                == .wait(until: at(3)))
        let changed = FileVersion(device: 1, inode: 9, bytes: 8, modified: 6)
        #expect(
            late.look(file(), signs: UploadSigns(sidecar: .found([changed])), at: at(2), times: times)
                == .wait(until: at(6)))
    }

    @Test func `a sidecar that is required is waited for until incomplete-after`() {
        var one = Settling(at: at(0))
        one.recordFinish(at: at(0))
        var now = at(0)
        while case .wait(let next) = one.look(file(), signs: UploadSigns(sidecar: .missing), at: now, times: times) {
            #expect(one.reason == .sidecar)
            now = next
        }
        #expect(now == at(600))
    }
}
