// The messages that systemd gets, on a socket of our own.
import Glibc
import TestSupport
import Testing

@testable import imagemill

@Suite struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func `news go to the socket that the manager names, by path and in the abstract space`(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let name =
            isAbstract ? "@imagemill-test-\(getpid())-\(UInt64.random(in: .min ... .max))" : folder.path("notify")
        let listener = try DatagramListener(name)
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": name]))
        #expect(manager.tell(.ready, .status("3 running\nREADY=0")))
        // A status is one line, whatever file names are in it.
        #expect(listener.nextText() == "READY=1\nSTATUS=3 running\\nREADY=0")
        manager.tell(.alive)
        manager.tell(.stopping)
        manager.tell(.extendTimeout(30_000))
        #expect(
            [listener.nextText(), listener.nextText(), listener.nextText()] == [
                "WATCHDOG=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=30000000",
            ])
    }

    @Test func `a reload is announced with its time, as newer managers want it`() throws {
        let folder = try TemporaryFolder()
        let listener = try DatagramListener(folder.path("notify"))
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": folder.path("notify")]))
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        manager.tell(.reloading)
        let lines = try #require(listener.nextText()).split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == "RELOADING=1" && lines[1].hasPrefix("MONOTONIC_USEC="))
        let told = try #require(Int(lines[1].dropFirst("MONOTONIC_USEC=".count)))
        #expect(abs(told / 1_000_000 - now.tv_sec) < 60)
    }

    @Test(arguments: [nil, "", "relative", "@", String(repeating: "/x", count: 80)])
    func `without a manager, or with a name that is none, nothing is said`(name: String?) {
        #expect(ServiceManager(name.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil)
    }

    @Test func `a manager that is gone does no harm`() throws {
        let folder = try TemporaryFolder()
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": folder.path("gone")]))
        #expect(!manager.tell(.ready))
    }

    @Test func `the watchdog is notified twice as often as it asks, and only where it is meant for this process`() {
        func interval(_ variables: [String: String]) -> Duration? {
            ServiceManager(variables.merging(["NOTIFY_SOCKET": "/x"]) { first, _ in first }, process: 77)?
                .watchdogInterval
        }
        #expect(interval(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "77"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "60000000"]) == .seconds(30))
        #expect(interval(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "78"]) == nil)
        for text in ["0", "-5", "x", ""] { #expect(interval(["WATCHDOG_USEC": text]) == nil) }
        #expect(interval([:]) == nil)
    }
}
