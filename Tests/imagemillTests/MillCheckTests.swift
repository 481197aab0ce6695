// `imagemill check` of a mill file: what is wrong with it, with its pipelines, and with its folders.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct MillCheckTests {
    private func runner(_ mill: String, folders: [String] = ["in", "out"]) throws -> CommandRunner {
        let runner = try CommandRunner()
        for name in folders {
            try FileManager.default.createDirectory(atPath: runner.folder.path(name), withIntermediateDirectories: true)
        }
        try runner.folder.write("renditions: { web: { save: { format: webp } } }\n", to: "p.yaml")
        try runner.folder.write(mill, to: "mill.yaml")
        return runner
    }

    private let one = "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n"

    @Test
    func `a good mill file is said to be good, with where its folders will be, and nothing is made`() async throws {
        let runner = try runner(one)
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 0, "\(result.errors)")
        let folder = runner.folder.path
        #expect(
            result.output == """
                mill.yaml: good; 1 inbox
                  in: \(folder)/in → \(folder)/out; work/, done/ and failed/ will be in \(folder)/state

                """)
        #expect(!runner.exists("state") && !runner.exists(".imagemill"))
    }

    @Test func `a missing inbox is no mistake, and how to make it is shown`() async throws {
        let runner = try runner(one, folders: ["out"])
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 0)
        #expect(
            result.output.contains(
                "; the inbox is missing: make it with mkdir -p \(runner.folder.path)/in, or mount it; until then"))
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"))
    func `an inbox that is there is not called missing where this user may write nowhere`() async throws {
        let runner = try runner(one)
        let tool = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        try #require(try await runner.shell("chmod 755 . in out && \(tool) test -r mill.yaml").exit == 0)
        let result = try await runner.shell("\(tool) '\(CommandRunner.executable)' check mill.yaml")
        #expect(result.exit == 0)
        #expect(
            result.output.contains("/out; this user may write to no place for work/, done/ and failed/\n"),
            "\(result.output)\(result.errors)")
    }

    @Test(.enabled(if: TestMachine.othersCanRun, "no other user can run the program here"))
    func `rights that the user who asks lacks are warnings with path, right and user, and no mistake`() async throws {
        let runner = try runner(one)
        try runner.folder.write(
            "state: state\ncache: { path: cache }\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n",
            to: "mill.yaml")
        let tool = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let open = "chown 65534 . in out && chmod 755 . in out"
        try #require(try await runner.shell(open).exit == 0)
        func check() async throws -> CommandResult {
            try await runner.shell("\(tool) '\(CommandRunner.executable)' check mill.yaml")
        }
        #expect(try await !check().output.contains("warning"), "the folders are made")

        try #require(
            try await runner.shell("mkdir state cache && chown 0 out in state && chmod 555 in cache").exit == 0)
        let result = try await check()
        let folder = runner.folder.path
        let user = try #require(result.output.firstMatch(of: #/warning: (the user \S+)/#)).1
        #expect(result.exit == 0)
        let denied = "Permission denied"
        #expect(
            result.output.split(separator: "\n").suffix(5) == [
                "  warning: \(user) may not write to the state folder '\(folder)/state': \(denied)",
                "  warning: \(user) may not write to the inbox '\(folder)/in': \(denied)",
                "  warning: \(user) may not write to the outbox '\(folder)/out': \(denied)",
                "  warning: \(user) may not write to the cache '\(folder)/cache': \(denied)",
                "  warning: so `imagemill watch` of this user would not start, or would pause; as another one: sudo -u USER imagemill check mill.yaml",
            ], "\(result.output)\(result.errors)")

        try #require(try await runner.shell("chmod 700 out").exit == 0)
        let unseen = try await check()
        #expect(
            unseen.errors
                == "imagemill: cannot open the folder '\(folder)/out': \(denied)\n  give \(user) the right to it, or run this as another user\n"
        )

        try #require(try await runner.shell("rm -r out && chown 0 . && chmod 755 .").exit == 0)
        #expect(
            try await check().output.contains(
                "\(user) may not write to '\(folder)', where the outbox '\(folder)/out' is to be made: \(denied)\n"))
        let json = try await runner.shell("\(tool) '\(CommandRunner.executable)' check --json mill.yaml")
        #expect(
            json.exit == 0 && json.output.contains("\"good\" : true")
                && json.output.contains("may not write to the inbox"))
    }

    @Test func `an outbox whose folder is missing too is a warning, since watch waits for it`() async throws {
        let runner = try runner(
            "state: state\ninboxes:\n  - { path: in, outbox: share/out, pipeline: p.yaml }\n", folders: ["in"])
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 0)
        #expect(
            result.output.contains(
                "warning: the outbox '\(runner.folder.path)/share/out' is missing, and so is the folder above it; make it with mkdir -p"
            ),
            "\(result.output)")
    }

    @Test func `a picture in place of a mill file is called one`() async throws {
        let runner = try runner(one)
        try await runner.picture("photo.jpg")
        let result = try await runner.run("check", "photo.jpg")
        #expect(result.exit == 78)
        #expect(
            result.errors.hasPrefix("photo.jpg:1:1: error: expected a YAML file, found a picture (jpeg)\n"),
            "\(result.errors)")
    }

    @Test
    func `mistakes of the mill file, of its pipelines, and missing pipelines are all told at once`() async throws {
        let runner = try runner(
            "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n  - { path: in2, outbox: out, pipeline: gone.yaml }\n"
                + "  - { path: in3, outbox: out, pipeline: bad.yaml }\n")
        try runner.folder.write("renditions: { web: { save: { format: wepb } } }\n", to: "bad.yaml")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        #expect(
            result.errors.contains(
                "mill.yaml:3:41: error: the pipeline 'gone.yaml' cannot be used: cannot open 'gone.yaml': No such file")
        )
        #expect(result.errors.contains("bad.yaml:1:38: error: expected one of"))
        #expect(result.output.isEmpty)
    }

    @Test
    func `one pass finds the mistakes of all layers: keys, values, inboxes, pipelines, assets, folders, hooks, token`()
        async throws
    {
        let runner = try runner(
            """
            state: state
            inbxes: 3
            http: { address: "127.0.0.1:8080", token: gone-token }
            inboxes:
              - { path: in, outbox: out, pipeline: p.yaml, settle: 5 }
              - { path: in, outbox: out, pipeline: gone.yaml }
              - { path: in3, outbox: in3/out, pipeline: bad.yaml, on-failure: [/gone/program] }

            """)
        try runner.folder.write(
            """
            renditions:
              a:
                stages: [ { overlay: { image: gone.png } }, { overlay: { image: torn.png } } ]
                save: { format: webp }
                file: "{stm}.{ext}"
              b: { save: { format: wepb } }

            """, to: "bad.yaml")
        try runner.folder.write(Array(try await SamplePicture.png.bytes.prefix(60)), to: "torn.png")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        for words in [
            "mill.yaml:2:1: error: unknown key 'inbxes' in the mill file",
            "mill.yaml:5:56: error: expected a time such as 500ms, 2s, 10m or 1h, found '5' without a unit",
            "mill.yaml:6:5: error: the folder 'in' is an inbox already, in line 5",
            "mill.yaml:6:40: error: the pipeline 'gone.yaml' cannot be used: cannot open 'gone.yaml': No such file",
            "mill.yaml:7:5: error: inbox 'in3': the outbox '", "mill.yaml:7:68: error: on-failure of 'in3': ",
            "bad.yaml:3:35: error: the asset 'gone.png' cannot be used: cannot find the file",
            "bad.yaml:3:69: error: the asset 'torn.png' cannot be used: ", "bad.yaml:5:",
            "bad.yaml:6:24: error: expected one of",
            "the 'token' of 'http' cannot be read: ",
        ] { #expect(result.errors.contains(words), "\(words) is not in:\n\(result.errors)") }
        // Each once.
        let heads = result.errors.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(Set(heads).count == heads.count, "\(result.errors)")
    }

    @Test func `folders and names are checked though other keys of their inboxes are wrong`() async throws {
        let runner = try runner(
            """
            state: in1/state
            inboxes:
              - { path: in1, outbox: out, pipeline: p.yaml, name: shop }
              - { path: in1/sub, outbx: out, pipeline: p.yaml }
              - { path: in3, outbox: in1, pipeline: p.yaml, originals: mov }
              - { path: in4, outbox: in4/out, pipeline: in4/p.yaml, name: shop, settle: 5 }
              - { path: in5, outbox: out, pipeline: p.yaml, name: [shop] }

            """, folders: ["in1/sub", "out", "in3", "in4", "in5"])
        try runner.folder.write("renditions: { web: { save: { format: webp } } }\n", to: "in4/p.yaml")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        let folder = runner.folder.path
        let expected = [
            "3:5: error: inbox 'shop': the state folder '\(folder)/in1/state' is inside of the inbox '\(folder)/in1'",
            "3:5: error: inbox 'shop': '\(folder)/in1' is the outbox of 'in3' too",
            "3:5: error: inboxes 'shop' and 'sub': '\(folder)/in1/sub' is inside of '\(folder)/in1'",
            "4:22: error: unknown key 'outbx' in the inbox", "5:60: error: ",
            "6:5: error: inbox 'shop': the outbox '\(folder)/in4/out' is inside of the inbox",
            "6:5: error: inbox 'shop': the pipeline 'in4/p.yaml' is in an inbox",
            "6:5: error: two inboxes are called 'shop'", "6:77: error: expected a time", "7:55: error: 'name' expects",
        ]
        for words in expected {
            #expect(result.errors.contains("mill.yaml:" + words), "\(words) is not in:\n\(result.errors)")
        }
        let count = result.errors.split(separator: "\n").count { $0.contains(": error: ") }
        #expect(result.errors.hasSuffix("\n\(count) mistakes in mill.yaml\n"), "\(result.errors)")
    }

    @Test func `inboxes are kept apart though it is not understood where the state folder is`() async throws {
        let runner = try runner(
            "state: ~/state\ninboxes:\n  - { path: in, outbox: in/out, pipeline: p.yaml }\n", folders: ["in"])
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        #expect(result.errors.contains("mill.yaml:1:8: error: no shell reads this file"), "\(result.errors)")
        #expect(result.errors.contains("mill.yaml:3:5: error: inbox 'in': the outbox '"), "\(result.errors)")
        #expect(result.errors.hasSuffix("\n2 mistakes in mill.yaml\n"), "\(result.errors)")
    }

    @Test func `mistakes of several files are counted together, and a token has its place`() async throws {
        let runner = try runner(
            "state: state\nhttp: { address: '127.0.0.1:8080', token: gone }\ninboxes:\n  - { path: in, outbox: out, pipeline: bad.yaml }\n"
        )
        try runner.folder.write("renditions: { web: { save: { format: wepb } } }\n", to: "bad.yaml")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        #expect(
            result.errors.contains(
                "mill.yaml:2:43: error: the 'token' of 'http' cannot be read: cannot open 'gone': No such file or directory\n  http: { address: '127.0.0.1:8080', token: gone }\n  \(String(repeating: " ", count: 42))^\n"
            ), "\(result.errors)")
        #expect(
            result.errors.hasSuffix("\n2 mistakes in bad.yaml and mill.yaml\n"), "\(result.errors)")
        let json = try await runner.run("check", "--json", "mill.yaml")
        #expect(json.output.contains("\"column\" : 43"), "\(json.output)")
    }

    @Test func `a budget of memory in which no picture fits is a mistake`() async throws {
        let runner = try runner("max-memory: 10\n" + one)
        let result = try await runner.run("check", "mill.yaml")
        #expect(
            result.exit == 78
                && result.errors.hasPrefix(
                    "mill.yaml:1:1: error: 'max-memory' is less than any picture needs; allow 128M or more\n"),
            "\(result.errors)")
    }

    @Test(arguments: [
        ("path: in, outbox: in/out", "is inside of the inbox"),
        ("path: out/in, outbox: out", "is inside of the outbox"),
        ("path: in, outbox: link", "is the outbox too"), ("path: link/sub, outbox: in", "is inside of the outbox"),
        ("path: p.yaml, outbox: out", "/p.yaml' is no folder"), ("path: in, outbox: p.yaml", ": the outbox '"),
        ("path: ., outbox: /tmp/elsewhere", "the state folder"),
    ])
    func `folders that are inside of each other are refused with a sentence`(folders: String, sentence: String)
        async throws
    {
        let runner = try runner(
            "state: state\ninboxes:\n  - { \(folders), pipeline: p.yaml }\n", folders: ["in/sub", "out/in"])
        try FileManager.default.createSymbolicLink(atPath: runner.folder.path("link"), withDestinationPath: "in")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78)
        #expect(
            result.errors.contains(sentence) && result.errors.hasPrefix("mill.yaml:3:5: error: inbox '"),
            "\(result.errors)")
    }

    @Test(.enabled(if: TestMachine.canUnshareMounts, "no namespace of mounts can be made here"))
    func `a folder that is bound into an inbox under another name is recognised`() async throws {
        let runner = try runner(
            "state: state\ninboxes:\n  - { path: in, outbox: bound/out, pipeline: p.yaml }\n",
            folders: ["in/sub", "bound"])
        let result = try await runner.shell(
            "unshare -m sh -c 'mount --bind in/sub bound && \"$0\" check mill.yaml' '\(CommandRunner.executable)' || echo code $?"
        )
        #expect(result.output == "code 78\n" && result.errors.contains("is inside of the inbox"), "\(result.errors)")
    }

    @Test func `a pipeline that is in an inbox is refused, since it would be taken for a source`() async throws {
        let runner = try runner("state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: in/p.yaml }\n")
        try runner.folder.write("renditions: { web: { save: { format: webp } } }\n", to: "in/p.yaml")
        let result = try await runner.run("check", "mill.yaml")
        #expect(
            result.exit == 78 && result.errors.contains("is in an inbox, and would be taken for a source"),
            "\(result.errors)")
    }

    @Test func `if neither the file nor the environment names a state folder, the usual one is taken`() async throws {
        let runner = try runner("inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n")
        let result = try await runner.shell(
            "STATE_DIRECTORY='\(runner.folder.path)/here:/else' '\(CommandRunner.executable)' check mill.yaml")
        #expect(result.output.contains("will be in \(runner.folder.path)/here\n"), "\(result.output)\(result.errors)")
    }

    /// Before its first start the service's user may not make the folder, and does not have to.
    @Test(.enabled(if: TestMachine.isRoot, "only root can act as another user"))
    func `nothing is said of a missing state folder that systemd makes, and all of one that nobody makes`() async throws
    {
        let runner = try runner("inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n")
        let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
        let check = { (variable: String) in
            try await runner.shell(
                "cp -n \"$IMAGEMILL\" imagemill; mkdir -p out root; chmod 755 . root; chown 65534 in out; \(user) env -u STATE_DIRECTORY \(variable)=$PWD/root/imagemill ./imagemill check mill.yaml"
            )
        }
        let made = try await check("STATE_DIRECTORY")
        #expect(made.exit == 0 && !made.output.contains("warning"), "\(made)")
        let other = try await check("XDG_STATE_HOME")
        #expect(
            other.output.contains(
                "warning: the user 'nobody' may not write to '\(runner.folder.path("root"))', where the state folder"),
            "\(other)")
    }

    @Test func `the shipped mill file is good, and its folders are those that systemd makes`() async throws {
        let result = try await CommandRunner().run("check", Checkout.path + "/deploy/mill.yaml")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(result.output.contains("/srv/imagemill/inbox → /srv/imagemill/outbox"))
        let made = try Checkout.text("deploy/tmpfiles.d/imagemill.conf")
        #expect(made.contains("d /srv/imagemill/inbox ") && made.contains("d /srv/imagemill/outbox "))
    }

    // MARK: - Hooks

    private func hooks(_ lines: String) -> String { one.dropLast(" }\n".count) + ", \(lines) }\n" }

    @Test(arguments: [
        ("[./gone, a]", "/gone'", "there is no program '"),
        ("[no-such-program-here]", "PATH", "there is no program 'no-such-program-here' in the folders of PATH ("),
        ("{ command: [./plain] }", "/plain'", "is not executable for this user; chmod +x makes it so"),
        ("[./in]", "/in'", "is no file, so it cannot be run"),
        ("[./text]", "/text'", "is a text without a first line such as #!/bin/sh, so it cannot be run"),
        ("[./python]", "/python'", "is a script for '/no/such/python', which is missing"),
        ("[./windows]", "/windows'", "is a script for '/bin/sh\\r', which is missing"),
    ])
    func `a hook whose program cannot be started is named with its line, by check and by doctor`(
        hook: String, file: String, words: String
    ) async throws {
        let runner = try runner(hooks("on-failure: \(hook)"))
        let texts = [
            "plain": "#!/bin/sh\n", "text": "echo hello\n", "python": "#!/no/such/python -u\n",
            "windows": "#!/bin/sh\r\n", "good": "#! /bin/sh -e\n",
        ]
        for (name, text) in texts { try runner.folder.write(text, to: name) }
        _ = try await runner.shell("chmod +x text python windows good")
        let result = try await runner.run("check", "mill.yaml")
        #expect(result.exit == 78 && result.output.isEmpty)
        #expect(
            result.errors.hasPrefix("mill.yaml:3:") && result.errors.contains(": error: on-failure of 'in': "),
            "\(result.errors)")
        #expect(result.errors.contains(words) && result.errors.contains(file), "\(result.errors)")
        let doctor = try await runner.run("doctor", "mill.yaml")
        #expect(
            doctor.exit == 1 && doctor.output.contains("problem: mill.yaml:3: on-failure of 'in': ")
                && doctor.output.contains(words),
            "\(doctor.output)")
        try runner.folder.write(
            hooks("on-success: [./good], on-failure: [sh, -c, 'true'], on-pause: { command: [/bin/true] }"),
            to: "mill.yaml")
        let good = try await runner.run("check", "mill.yaml")
        #expect(good.exit == 0, "\(good.errors)")
    }

    @Test func `a webhook needs curl, and the file with its key`() async throws {
        let runner = try runner(hooks("on-success: { webhook: 'http://127.0.0.1:9/', secret: key }"))
        let missing = try await runner.run("check", "mill.yaml")
        #expect(
            missing.exit == 78
                && missing.errors.contains("on-success of 'in': cannot open '\(runner.folder.path)/key'"),
            "\(missing.errors)")
        try runner.folder.write(" \n", to: "key")
        let empty = try await runner.run("check", "mill.yaml")
        #expect(
            empty.exit == 78
                && empty.errors.contains("cannot sign with '\(runner.folder.path)/key': there is no key in it"),
            "\(empty.errors)")
        try runner.folder.write("0123456789abcdef\n", to: "key")
        let open = try await runner.run("check", "mill.yaml")
        #expect(open.exit == 78 && open.errors.contains("everybody may read the key in"), "\(open.errors)")
        #expect(chmod(runner.folder.path("key"), 0o640) == 0)
        try runner.folder.write("0123456789\n", to: "short")
        #expect(chmod(runner.folder.path("short"), 0o640) == 0)
        try runner.folder.write(
            hooks("on-success: { webhook: 'http://127.0.0.1:9/', secret: short }"), to: "short.yaml")
        let short = try await runner.run("check", "short.yaml")
        #expect(short.exit == 78 && short.errors.contains("is too short: 16 or more bytes"), "\(short.errors)")
        #expect(try await runner.run("check", "mill.yaml").exit == 0)
        try FileManager.default.createDirectory(atPath: runner.folder.path("bin"), withIntermediateDirectories: true)
        let result = try await runner.shell("PATH=$PWD/bin $IMAGEMILL check mill.yaml")
        #expect(result.exit == 78 && result.errors.contains("mill.yaml:3:"), "\(result.errors)")
        #expect(
            result.errors.contains(
                "webhooks are sent by curl, and there is no program 'curl' in the folders of PATH ("),
            "\(result.errors)")
        #expect(result.errors.contains("; install the package curl"), "\(result.errors)")
    }

    @Test func `a token that is too short, that everybody may read, or that is missing is a mistake`() async throws {
        let runner = try runner("http: { address: '0.0.0.0:8080', token: token }\n" + one)
        let missing = try await runner.run("check", "mill.yaml")
        #expect(
            missing.exit == 78 && missing.errors.contains("the 'token' of 'http' cannot be read: "), "\(missing.errors)"
        )
        try runner.folder.write("x", to: "token")
        _ = try await runner.shell("chmod 644 token")
        let open = try await runner.run("check", "mill.yaml")
        #expect(
            open.exit == 78 && open.errors.contains("everybody may read the token in 'token'; use chmod 640"),
            "\(open.errors)")
        _ = try await runner.shell("chmod 600 token")
        let short = try await runner.run("check", "mill.yaml")
        #expect(
            short.exit == 78 && short.errors.contains("the first line of 'token' is no token: 16 or more characters"),
            "\(short.errors)")
        try runner.folder.write("0123456789abcdef\n", to: "token")
        let good = try await runner.run("check", "mill.yaml")
        #expect(good.exit == 0, "\(good.errors)")
    }
}
