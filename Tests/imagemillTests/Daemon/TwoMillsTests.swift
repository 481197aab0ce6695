// `imagemill watch` beside another program that has what it needs: the inbox, or the address of the dashboard.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct TwoMillsTests {
    @Test(arguments: ["", ", name: other"])
    func `of two mills with one inbox the second one waits and says why, and takes over when the first has ended`(
        settings: String
    ) async throws {
        let drop = try WatchedFolder()
        let second =
            "state: state2\ninboxes:\n  - { path: in, outbox: out2, pipeline: p.yaml, settle: 200ms\(settings) }\n"
        try drop.runner.folder.write(second, to: "second.yaml")
        let watch = try await drop.start()
        let other = try drop.runner.start("watch", "second.yaml")
        try await drop.until("it is paused: \(other.errorsSoFar)") { other.errorsSoFar.contains("PAUSE_REASON=in-use") }
        let inbox = drop.runner.folder.path("in")
        let sentence =
            "paused: cannot take the sources in '\(inbox)': another imagemill watch takes them; stop one of the two, or give each"
        #expect(other.errorsSoFar.contains(sentence), "\(other.errorsSoFar)")
        for number in 1...4 { try await drop.drop("\(number).jpg") }
        for number in 1...4 { try await drop.until("out/\(number).jpg.json", "state/done/in/\(number).jpg") }
        #expect(drop.files("out2").isEmpty)
        #expect(try await drop.stop(watch).exit == 0)
        try await drop.drop("5.jpg")
        try await drop.until("out2/5.jpg.json")
        #expect(try await drop.stop(other).exit == 0)
    }

    @Test(.enabled(if: TestMachine.isRoot, "only root can act as another user"))
    func `a sub-folder that is closed, and opened again, shows in the status at once`() async throws {
        let drop = try WatchedFolder()
        let runner = drop.runner
        let script = """
            cp "$IMAGEMILL" imagemill; mkdir in/sub; chown -R 65534:65534 .; chmod 755 .
            setpriv --reuid=65534 --regid=65534 --clear-groups ./imagemill watch mill.yaml 2>log & echo $! >pid
            """
        _ = try await runner.shell(script)
        try await drop.until("it has started") {
            try await runner.shell("grep -c 'notice: started' log").output == "1\n"
        }
        for (mode, blocked) in [("000", 1), ("755", 0)] {
            let start = SuspendingClock.now
            _ = try await runner.shell("chmod \(mode) in/sub")
            try await drop.until("\(blocked) blocked") { try await drop.inbox()["blocked"] as? Int == blocked }
            // A scan would find it after a minute.
            #expect(SuspendingClock.now - start < .seconds(30))
        }
        _ = try await runner.shell("kill $(cat pid); tail --pid=$(cat pid) -f /dev/null")
    }

    @Test(.enabled(if: TestMachine.isRoot, "only root can act as another user"))
    func `root beside a daemon of another user waits for the inbox, takes nothing, and leaves its state folder alone`()
        async throws
    {
        let drop = try WatchedFolder()
        let runner = drop.runner
        try runner.folder.write(
            "state: state2\ninboxes:\n  - { path: in, outbox: out2, pipeline: p.yaml, settle: 200ms }\n",
            to: "second.yaml")
        // The program is copied: its folder may be closed to others.
        let script = """
            cp "$IMAGEMILL" imagemill; chown -R 65534:65534 .; chmod 755 .
            setpriv --reuid=65534 --regid=65534 --clear-groups ./imagemill watch mill.yaml 2>log & echo $! >pid
            """
        _ = try await runner.shell(script)
        try await drop.until("it has started") {
            try await runner.shell("grep -c 'notice: started' log").output == "1\n"
        }
        let other = try runner.start("watch", "second.yaml")
        try await drop.until("it is paused: \(other.errorsSoFar)") { other.errorsSoFar.contains("PAUSE_REASON=in-use") }
        let process = try await runner.shell("cat pid").output.dropLast()
        #expect(other.errorsSoFar.contains("another imagemill watch (process \(process) of 'nobody') takes them"))
        try await drop.drop("a.jpg")
        try await drop.until("out/a.jpg.json")
        #expect(drop.files("out2").isEmpty)
        _ = try await runner.shell("kill $(cat pid); tail --pid=$(cat pid) -f /dev/null")
        #expect(try await drop.stop(other).exit == 0)
        let refused = try await runner.run("watch", "mill.yaml")
        let state = runner.folder.path("state")
        #expect(refused.exit == 78)
        #expect(
            refused.errors
                == "imagemill: the state folder '\(state)' belongs to 'nobody', who could not use what 'root' wrote into it; nothing is watched. "
                + "Start it as 'nobody': sudo -u nobody imagemill watch mill.yaml\n")
        // The picture was dropped by root.
        #expect(try await runner.shell("find state -user 0 ! -name a.jpg").output == "")
    }

    @Test(
        arguments: [
            ("top", "has an inbox inside of it"),
            ("top/in/sub", "takes those in 'FOLDER/top/in', with all that is inside of it"),
        ])
    func `an inbox inside of that of another mill, or around it, waits and says why`(inbox: String, reason: String)
        async throws
    {
        func mill(_ inbox: String, _ number: String) -> String {
            "state: state\(number)\ninboxes:\n  - { path: \(inbox), outbox: out\(number), pipeline: p.yaml }\n"
        }
        let drop = try WatchedFolder(mill: mill("top/in", ""))
        try drop.makeFolder("top/in/sub")
        try drop.runner.folder.write(mill(inbox, "2"), to: "second.yaml")
        let watch = try await drop.start()
        let other = try drop.runner.start("watch", "second.yaml")
        try await drop.until("it is paused: \(other.errorsSoFar)") { other.errorsSoFar.contains("PAUSE_REASON=in-use") }
        let folder = drop.runner.folder.path
        let words =
            "another imagemill watch \(reason.replacingOccurrences(of: "FOLDER", with: folder)); stop one of the two"
        #expect(
            other.errorsSoFar.contains("paused: cannot take the sources in '\(folder)/\(inbox)': \(words)"),
            "\(other.errorsSoFar)")
        for running in [watch, other] { #expect(try await drop.stop(running).exit == 0) }
    }

    @Test
    func `an address that another program has ends the start with 75, the address, the setting and what to do`()
        async throws
    {
        let taken = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(taken) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(taken, $0, length) | listen(taken, 1) | getsockname(taken, $0, &length)
            }
        }
        try #require(result == 0)
        let host = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        let drop = try WatchedFolder(
            mill: "state: state\nhttp: \(host)\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n")
        let watch = try await drop.runner.run("watch", "mill.yaml")
        let remedy = "stop the program that uses it, or choose another port ('http' in 'mill.yaml')"
        #expect(
            watch.exit == 75
                && watch.errors == "imagemill: cannot listen on '\(host)': Address already in use; \(remedy)\n",
            "\(watch.errors)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a command for a mill whose daemon does not run never asks the service of another one`() async throws {
        let inbox = "path: in, outbox: out, pipeline: p.yaml, settle: 200ms"
        let drop = try WatchedFolder(mill: "inboxes:\n  - { \(inbox) }\n")
        // Where a service without a state folder of its own has its socket.
        let home = "XDG_STATE_HOME=\(drop.runner.folder.path("home"))"
        try drop.makeFolder("in2")
        try drop.runner.folder.write(
            "state: state2\ninboxes:\n  - { path: in2, outbox: out2, pipeline: p.yaml }\n", to: "second.yaml")
        _ = try await drop.runner.shell("ln -s mill.yaml linked.yaml")
        let watch = try await drop.start(variables: [home])
        try drop.drop("a.jpg", Array("no picture".utf8))
        try await drop.until("home/imagemill/failed/in/a.jpg.error.json")
        for command in ["status", "reload", "retry --all", "pause in2", "resume in2"] {
            let (verb, rest) = (command.prefix { $0 != " " }, command.drop { $0 != " " })
            let asked = try await drop.runner.shell("\(home) $IMAGEMILL \(verb) second.yaml\(rest)")
            #expect(asked.exit == 75, "\(command): \(asked)")
            let expected =
                "imagemill: no daemon is running for 'second.yaml'; the one at '\(drop.runner.folder.path("home/imagemill/status.sock"))' works with '\(drop.runner.folder.path("mill.yaml"))'\n"
            #expect(asked.errors == expected, "\(command): \(asked.errors)")
        }
        #expect(drop.runner.exists("home/imagemill/failed/in/a.jpg"))
        let linked = try await drop.runner.shell("\(home) $IMAGEMILL status linked.yaml")
        #expect(linked.exit == 0 && linked.output.contains("1 failed"), "\(linked)")
        #expect(try await drop.stop(watch).exit == 0)
    }
}
