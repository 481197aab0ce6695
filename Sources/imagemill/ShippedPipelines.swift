// The pipelines that come with the program, which commands take by name: `imagemill run web-photos photos/ -o out/`.
import Engine
import Glibc
import Pipeline
import System

enum ShippedPipelines {
    /// Their names, sorted; none if they are not installed.
    static var names: [String] {
        guard let folder, let names = try? Directory(folder).names() else { return [] }
        return names.compactMap { name in
            let text = String(decoding: name, as: UTF8.self)
            return text.hasSuffix(".yaml") ? String(text.dropLast(5)) : nil
        }.sorted()
    }

    /// The file of a pipeline; nil if none of this name is shipped.
    static func file(named name: String) -> String? {
        guard !name.contains("/"), names.contains(name), let folder else { return nil }
        return folder.appending(BytePath(name + ".yaml")).text
    }

    /// `share/imagemill/pipelines` beside the `bin` that the program is in, or `pipelines` in the checkout that it was
    /// built in.
    private static var folder: BytePath? {
        var folder = (FileSystem.absolute(BytePath("/proc/self/exe")) ?? BytePath("/")).directory
        var places: [BytePath] = []
        for _ in 0..<4 {
            folder = folder.directory
            places.append(folder.appending(BytePath("share/imagemill/pipelines")))
            if (try? FileSystem.status(folder.appending(BytePath("Package.swift")))) ?? nil != nil {
                places.append(folder.appending(BytePath("pipelines")))
            }
        }
        return places.first { (try? FileSystem.status($0))??.kind == .directory }
    }
}
