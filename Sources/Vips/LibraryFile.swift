// The file that a library was loaded from.
import Glibc

struct LibraryFile {
    let folder: String
    let name: String

    /// The one that has a function and is loaded; nil if there is none.
    init?(with function: String) {
        // Glibc's header hides `dladdr` from Swift. It fills in four pointers, and the first is the file's path.
        typealias Find = @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<CChar>?>) -> CInt
        guard let find = dlsym(nil, "dladdr").map({ unsafeBitCast($0, to: Find.self) }),
            let address = dlsym(nil, function)
        else { return nil }
        var found = [UnsafePointer<CChar>?](repeating: nil, count: 4)
        guard find(address, &found) != 0, let path = found[0] else { return nil }
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
