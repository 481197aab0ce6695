// The file that a library was loaded from.
import Glibc

struct LibraryFile {
    let folder: String
    let name: String

    /// The one that has a function and is loaded; nil if there is none.
    init?(with function: String) {
        var found = Dl_info()
        guard let address = dlsym(nil, function), dladdr(address, &found) != 0, let path = found.dli_fname else { return nil }
        self.init(String(cString: path))
    }

    /// The one to which a path leads; nil if there is none.
    init?(_ path: String) {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        let path = String(cString: real)
        guard let slash = path.lastIndex(of: "/") else { return nil }
        folder = String(path[..<slash])
        name = String(path[slash...].dropFirst())
    }
}
