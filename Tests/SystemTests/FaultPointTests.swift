// The hook that experiments break the program with: it must do what it is asked, or the experiments prove nothing.
import Glibc
import Pipeline
import Testing

@testable import System

#if DEBUG
    @Suite struct FaultPointTests {
        @Test func `points have names of their own, in words with hyphens`() {
            let names = FaultPoint.allCases.map(\.name)
            #expect(Set(names).count == names.count)
            #expect(FaultPoint.afterClaimRename.name == "after-claim-rename")
            for name in names { #expect(name.allSatisfy { $0.isLowercase || $0 == "-" }) }
        }

        @Test func `the fault happens at the pass that was asked for, and at no other`() throws {
            var plan = try #require(FaultPlan("between-renames:3:kill"))
            let actions = (1...5).map { _ in plan.pass(.betweenRenames) }
            #expect(actions == [nil, nil, .kill, nil, nil])
            #expect(plan.pass(.afterLastRename) == nil)
        }

        @Test func `every action is understood`() throws {
            let texts = ["kill", "stop", "sleep:250", "error:ENOSPC", "error:EIO"]
            let actions = texts.map { FaultPlan("during-recovery:1:" + $0)?.action }
            #expect(actions == [.kill, .stop, .sleep(milliseconds: 250), .error(ENOSPC), .error(EIO)])
        }

        @Test(arguments: [
            "", "x", "nowhere:1:kill", "after-decode:0:kill", "after-decode:1:explode",
            "after-decode:1:error:EWHAT", "after-decode:1",
        ])
        func `what is no fault is refused`(text: String) {
            #expect(FaultPlan(text) == nil)
        }

        @Test func `an error comes out as one of the system`() {
            let error = #expect(throws: SystemError.self) {
                try FaultPlan.Action.error(ENOSPC).perform(at: .afterReportWrite)
            }
            #expect(error?.code == ENOSPC && error?.asOutputFailure.code == .diskFull)
        }
    }
#endif
