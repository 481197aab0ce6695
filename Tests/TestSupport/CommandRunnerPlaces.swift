// Where things are in the checkout and beside it.
import Foundation

package enum Checkout {
    /// The folder that holds Package.swift.
    package static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Pictures of other people's, which not every checkout has beside it.
    package static let corpus = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(
        "shared/corpus"
    ).path

    package static var hasCorpus: Bool { FileManager.default.fileExists(atPath: corpus) }

    package static func text(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    /// Files below a folder of the checkout, by extension, as paths from the checkout.
    package static func files(below name: String, extension suffix: String) -> [String] {
        let all = FileManager.default.subpaths(atPath: path + "/" + name) ?? []
        return all.filter { $0.hasSuffix("." + suffix) }.sorted().map { "\(name)/\($0)" }
    }
}

/// The abilities of this machine and of the user of the tests. A test that needs one is skipped without it.
package enum TestMachine {
    package static var isRoot: Bool { geteuid() == 0 }

    /// Whether a file system can be mounted; a container may forbid it even to root.
    package static let canMount = isRoot && succeeds("mount -t tmpfs tmpfs . && umount --lazy \"$PWD\"")

    /// Whether libheif decodes HEIC here.
    package static let readsHEIC = succeeds("'\(CommandRunner.executable)' --version | grep -q 'reads heic'")

    /// Whether a namespace with mounts of its own can be made.
    package static let canUnshareMounts = isRoot && succeeds("unshare -m mount -t tmpfs tmpfs .")

    /// Whether a file can be kept from being removed. Root is not held up by permissions, but by an attribute that not
    /// every file system has.
    package static let canForbidRemoval = !isRoot || succeeds("touch file && chattr +i file && chattr -i file")

    /// Whether files can have extended attributes, in the folder for temporary files.
    package static let hasAttributes = succeeds(
        "python3 -c 'import os; open(\"file\", \"w\"); os.setxattr(\"file\", \"user.imagemill\", b\"1\")'")

    /// Whether the program can be run as another user, from whom it may be hidden.
    package static let othersCanRun =
        isRoot
        && succeeds(
            "chmod 755 . && setpriv --reuid=65534 --regid=65534 --clear-groups test -x '\(CommandRunner.executable)' -a -r ."
        )

    /// Whether a shell's line succeeds in a folder of its own.
    private static func succeeds(_ line: String) -> Bool {
        guard let folder = try? TemporaryFolder() else { return false }
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", line]
        shell.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        shell.standardError = FileHandle.nullDevice
        guard (try? shell.run()) != nil else { return false }
        shell.waitUntilExit()
        return shell.terminationStatus == 0
    }
}
