// The files that are shipped for systemd, and those that `make install` puts in place. Nothing is built for it.
import Foundation
import TestSupport
import Testing

@Suite struct DeployTests {
    private static let hasAnalyzer = FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")

    /// Installs a shell script in the program's place, stripped by nobody.
    private func install(_ runner: CommandRunner, _ more: String = "") async throws {
        try runner.folder.write("#!/bin/sh\nexit 0\n", to: "program")
        let line = "chmod +x program; make -C '\(Checkout.path)' install BINARY=\"$PWD/program\" STRIP=true \(more)"
        let result = try await runner.shell(line)
        try #require(result.exit == 0, "\(result.output)\(result.errors)")
    }

    @Test(.enabled(if: hasAnalyzer), arguments: ["imagemill", "imagemill@"])
    func `the units are right in systemd's own eyes, and shut in as far as promised`(name: String) async throws {
        let runner = try CommandRunner()
        try await install(runner, "PREFIX=\"$PWD/usr\" SYSCONFDIR=\"$PWD/etc\"")
        let unit = "usr/lib/systemd/system/\(name).service"
        let instance = name.hasSuffix("@") ? "usr/lib/systemd/system/\(name)products.service" : unit
        if instance != unit {
            try FileManager.default.copyItem(atPath: runner.folder.path(unit), toPath: runner.folder.path(instance))
        }
        let verified = try await runner.shell("systemd-analyze verify --man=no '\(instance)'")
        #expect(
            verified.exit == 0 && verified.output.isEmpty && verified.errors.isEmpty,
            "\(verified.output)\(verified.errors)")
        let rated = try await runner.shell("systemd-analyze security --offline=true --threshold=15 '\(unit)'")
        #expect(rated.exit == 0, "\(rated.output)\(rated.errors)")
        // The threshold is at work: nothing is as safe as zero.
        #expect(try await runner.shell("systemd-analyze security --offline=true --threshold=1 '\(unit)'").exit != 0)
    }

    @Test func `the two units differ in the names of the instance alone`() throws {
        let single = try settings("imagemill.service")
        let several = try settings("imagemill@.service").map {
            $0.replacingOccurrences(of: "imagemill/%i", with: "imagemill").replacingOccurrences(
                of: "/etc/imagemill.yaml", with: "/etc/imagemill/mill.yaml"
            )
            .replacingOccurrences(of: " %i", with: "")
        }
        #expect(single == several)
        #expect(single.count > 50)
    }

    @Test func `the units name the program's own manual`() throws {
        for name in ["imagemill.service", "imagemill@.service"] {
            let line = try settings(name).first { $0.hasPrefix("Documentation=") }
            let pages = line?.dropFirst("Documentation=".count).split(separator: " ") ?? []
            #expect(pages.first == "man:imagemill(1)")
            for page in pages {
                let parts = page.dropFirst(4).split(whereSeparator: { "()".contains($0) })
                #expect(
                    FileManager.default.fileExists(atPath: "\(Checkout.path)/docs/man/\(parts[0]).\(parts[1])"),
                    "\(page)")
            }
        }
    }

    /// A package script's calls of systemd's tools. The folder by which it knows that systemd runs is another one.
    private func calls(of script: String, _ arguments: String) async throws -> [String] {
        let runner = try CommandRunner()
        try runner.folder.write(
            try Checkout.text("deploy/debian/\(script)").replacingOccurrences(of: "/run/systemd/system", with: "."),
            to: "script")
        for tool in ["systemctl", "deb-systemd-invoke", "systemd-sysusers", "systemd-tmpfiles"] {
            try runner.folder.write(
                "#!/bin/sh\nprintf '%s' ${0##*/} >> calls\nfor word; do printf ' <%s>' \"$word\" >> calls; done\necho >> calls\n",
                to: "bin/\(tool)")
        }
        // A file that a pattern without quotes would become.
        try runner.folder.write("", to: "imagemill@x.service")
        let result = try await runner.shell("chmod +x bin/*; PATH=\"$PWD/bin:$PATH\" sh script \(arguments)")
        #expect(result.exit == 0, "\(result.errors)")
        return String(decoding: try runner.bytes("calls"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `an upgrade restarts the named instances too, and a removal stops them`() async throws {
        let units = "<imagemill.service> <imagemill@*.service>"
        #expect(try await calls(of: "postinst", "configure 0.1").contains("deb-systemd-invoke <try-restart> \(units)"))
        #expect(try await calls(of: "postinst", "configure ''").contains { $0.contains("restart") } == false)
        #expect(try await calls(of: "prerm", "remove") == ["deb-systemd-invoke <stop> \(units)"])
    }

    private func settings(_ name: String) throws -> [String] {
        try Checkout.text("deploy/systemd/\(name)").split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#")
        }
    }

    @Test
    func `install puts everything below DESTDIR with the target's paths; uninstall takes all but configurations`()
        async throws
    {
        let runner = try CommandRunner()
        try await install(runner, "DESTDIR=\"$PWD/root\" PREFIX=/opt/mill SYSCONFDIR=/opt/etc")
        let lib = "opt/mill/lib"
        let expected = [
            "opt/mill/bin/imagemill", "\(lib)/systemd/system/imagemill.service",
            "\(lib)/systemd/system/imagemill@.service",
            "\(lib)/sysusers.d/imagemill.conf", "\(lib)/tmpfiles.d/imagemill.conf",
            "opt/mill/share/doc/imagemill/README.md",
            "opt/mill/share/doc/imagemill/docs/operations.md", "opt/mill/share/doc/imagemill/docs/reference/mill.md",
            "opt/mill/share/man/man1/imagemill-run.1", "opt/mill/share/man/man5/imagemill-pipeline.5",
            "opt/mill/share/bash-completion/completions/imagemill", "opt/mill/share/zsh/site-functions/_imagemill",
            "opt/mill/share/fish/vendor_completions.d/imagemill.fish",
        ]
        let pipelines = Checkout.files(below: "pipelines", extension: "yaml").map { "opt/mill/share/imagemill/" + $0 }
        let files = runner.files(in: "root")
        for file in expected + pipelines { #expect(files.contains(file), "\(file)") }
        let unit = try String(
            contentsOfFile: runner.folder.path("root/\(lib)/systemd/system/imagemill@.service"), encoding: .utf8)
        #expect(unit.contains("ExecStart=/opt/mill/bin/imagemill watch /opt/etc/imagemill/%i.yaml\n"))
        #expect(!unit.contains("/usr/bin/imagemill") && !unit.contains(runner.folder.path))
        #expect(try await runner.shell("root/opt/mill/bin/imagemill").exit == 0)
        let example = try String(
            contentsOfFile: runner.folder.path("root/opt/etc/imagemill/mill.yaml.example"), encoding: .utf8)
        #expect(example.contains("pipeline: /opt/mill/share/imagemill/pipelines/web-photos.yaml "))
        #expect(example.contains("All settings: /opt/mill/share/doc/imagemill/docs/reference/mill.md. "))

        try runner.folder.write("mine", to: "root/opt/etc/imagemill/mill.yaml")
        let removed = try await runner.shell(
            "make -C '\(Checkout.path)' uninstall DESTDIR=\"$PWD/root\" PREFIX=/opt/mill SYSCONFDIR=/opt/etc")
        #expect(removed.exit == 0, "\(removed.errors)")
        #expect(runner.files(in: "root") == ["opt/etc/imagemill/mill.yaml"])
    }

    @Test func `links in the installed documentation lead to files that are installed too`() async throws {
        let runner = try CommandRunner()
        try await install(runner, "DESTDIR=\"$PWD/root\" PREFIX=/usr")
        let folder = runner.folder.path("root/usr/share/doc/imagemill")
        let pages = (FileManager.default.subpaths(atPath: folder) ?? []).filter { $0.hasSuffix(".md") }
        #expect(pages.count > 40)
        for page in pages {
            let text = try String(contentsOfFile: "\(folder)/\(page)", encoding: .utf8)
            for link in text.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/).map({ String($0.output.1) })
            where !link.contains("://") && !link.hasPrefix("mailto:") {
                let target = URL(filePath: "\(folder)/\(page)").deletingLastPathComponent().appending(path: link)
                #expect(
                    target.standardizedFileURL.path.hasPrefix(folder)
                        && FileManager.default.fileExists(atPath: target.path), "\(page): \(link)")
            }
        }
        let pipelines = try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/pipelines")
        #expect(pipelines == "../../imagemill/pipelines")
    }

    @Test func `install without a program says what to do, and installs nothing`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell(
            "make -C '\(Checkout.path)' install BINARY=\"$PWD/none\" DESTDIR=\"$PWD/root\"")
        #expect(result.exit != 0)
        #expect(result.output.contains("none is missing; run `make build` first"))
        #expect(!runner.exists("root"))
    }

    @Test
    func `the unit allows by name the calls by which workers shut themselves in, and forbids what nobody needs`() throws
    {
        let filters = try settings("imagemill.service").filter { $0.hasPrefix("SystemCallFilter=") }
        #expect(filters.first == "SystemCallFilter=@system-service")
        for call in ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"] {
            #expect(
                filters.last?.split(whereSeparator: { " =".contains($0) }).contains(Substring(call)) == true, "\(call)")
        }
    }

    /// Where the trial can be made: it needs root, and hides /root and /home.
    private static var canConfine: Bool {
        let isHidden = ["/root/", "/home/"].contains { Checkout.path.hasPrefix($0) }
        return geteuid() == 0 && hasAnalyzer && !isHidden
    }

    @Test(.enabled(if: canConfine))
    func `the program works under the unit's restrictions: no file elsewhere, no new code, no call not listed`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.picture("in/photo.jpg")
        try await runner.picture("in/logo.png")
        let tool =
            "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/confined' '\(Checkout.path)/deploy/systemd/imagemill.service' --writable \"$PWD\" --"
        let trial = try await runner.shell("chmod -R 777 .; \(tool) true")
        try #require(trial.exit == 0, "\(trial.errors)")
        #expect(try await runner.shell("\(tool) touch /tmp/imagemill-outside").errors.contains("Read-only file system"))
        #expect(try await runner.shell("\(tool) unshare --mount true").exit != 0)
        // Every shipped pipeline: the smart crop of one of them is what the first trial stumbled over.
        for pipeline in Checkout.files(below: "pipelines", extension: "yaml") {
            let result = try await runner.shell(
                "\(tool) '\(CommandRunner.executable)' run '\(Checkout.path)/\(pipeline)' in -o out-\(pipeline.split(separator: "/")[1]) --jobs 1"
            )
            #expect(result.exit == 0, "\(pipeline): \(result.errors)")
        }
    }
}
