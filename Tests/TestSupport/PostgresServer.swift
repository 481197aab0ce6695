// A PostgreSQL server of the tests' own, if this system has its programs.
import Foundation
import Glibc
import Synchronization

/// A server on a socket in a folder of its own. It ends with the process of the tests.
package final class PostgresServer: Sendable {
    /// The one of this process; nil if the system has none.
    package static let shared = try? PostgresServer()

    /// The server, and libpq to ask it with.
    package static let isThere = shared != nil && dlopen("libpq.so.5", RTLD_NOW) != nil

    private let folder: String
    private let schemas = Atomic(0)

    private init() throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let newest = versions.compactMap({ Int($0) }).max(), newest >= 14 else {
            throw CocoaError(.fileNoSuchFile)
        }
        // The server refuses root. It ends when the shell's input does, which is when this process ends.
        let script = """
            set -e
            trap '' INT TERM HUP
            bin=/usr/lib/postgresql/\(newest)/bin
            folder=$(mktemp -d /tmp/imagemill-pg.XXXXXX)
            as=
            if [ "$(id -u)" = 0 ]; then chown nobody "$folder"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups"; fi
            cd "$folder"
            trap 'cd /; $as $bin/pg_ctl -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT
            $as $bin/initdb -D "$folder/data" -U mill --auth=trust --no-sync --no-locale -E UTF8 >/dev/null
            $as $bin/pg_ctl -D "$folder/data" -w -t 60 -l "$folder/log" \
                -o "-c listen_addresses='' -k $folder -c max_connections=200 -c fsync=off" start >/dev/null
            echo "$folder"
            cat >/dev/null
            """
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script]
        let (input, output) = (Pipe(), Pipe())
        (shell.standardInput, shell.standardOutput) = (input, output)
        try shell.run()
        // Never closed by this process.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        folder = said.trimmingCharacters(in: .newlines)
        guard folder.hasPrefix("/tmp/") else { throw CocoaError(.executableLoad) }
    }

    /// A connection to a schema that nobody else has.
    package func newSchema() throws -> String {
        let name = "s\(schemas.add(1, ordering: .relaxed).newValue)"
        try statement("CREATE SCHEMA \(name)")
        return "host=\(folder) user=mill dbname=postgres application_name=\(name) options=-csearch_path=\(name)"
    }

    /// Has the server do statements, by `psql`.
    package func statement(_ text: String, on conninfo: String? = nil) throws {
        let psql = Process()
        psql.executableURL = URL(fileURLWithPath: "/usr/bin/psql")
        psql.arguments = [
            "-qX", "-v", "ON_ERROR_STOP=1", conninfo ?? "host=\(folder) user=mill dbname=postgres", "-c", text,
        ]
        try psql.run()
        psql.waitUntilExit()
        guard psql.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
