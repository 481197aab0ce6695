// The problems that keep hooks from running, as far as they are seen before a hook is needed.
import Glibc
package import Pipeline
import System

extension LoadedMill {
    /// Programs and files that hooks need and that are missing, each with its place in the mill file. No reason not to
    /// start: it may come before it is needed.
    package var hookProblems: [Diagnostic] { Self.hookProblems(of: inboxes.map(\.settings), in: path) }

    /// The same of inboxes that cannot all run.
    /// - Parameter file: the mill file.
    package static func hookProblems(of inboxes: [MillInbox], in file: String) -> [Diagnostic] {
        inboxes.flatMap { inbox in
            let declared = Self.hooks(inbox, file)
            return inbox.hooks.flatMap { event, settings in
                declared[event].map { hook in
                    problems(settings, hook).map { Diagnostic($0, "on-\(event.rawValue) of '\(inbox.name)': \($1)") }
                } ?? []
            }
        }
    }

    private static func problems(_ settings: HookSettings, _ hook: Hook) -> [(Position, String)] {
        switch (settings.action, hook.action) {
        case (.command(let written, _), .command(let arguments)):
            Program(name: arguments[0]).problem.map { [(written.position, $0)] } ?? []
        case (.webhook(_, let written), .webhook(_, let file)):
            (Webhook.missingProgram.map { [(settings.position, $0)] } ?? [])
                + zip([written].compactMap(\.self), [file].compactMap(\.self)).compactMap { written, file in
                    keyProblem(file).map { (written.position, $0) }
                }
        case (.command, .webhook), (.webhook, .command): []
        }
    }

    /// A key that only the user of the service can read is no mistake.
    private static func keyProblem(_ file: BytePath) -> String? {
        do throws(SystemError) {
            let key = try Webhook.key(in: file)
            guard try OpenFile.reading(file).status().mode & 0o007 == 0 else {
                return "everybody may read the key in '\(file.printable)'; use chmod 640"
            }
            guard key.count >= Webhook.shortestKey else {
                return
                    "the key in '\(file.printable)' is too short: \(Webhook.shortestKey) or more bytes, such as those of `openssl rand -hex 32`"
            }
            return nil
        } catch {
            return error.code == EACCES ? nil : "\(error)"
        }
    }
}
