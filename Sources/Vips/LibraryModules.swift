// libvips' modules: the codecs that it has in libraries of their own. It loads all of them when it starts, ImageMagick
// and OpenSlide too, which takes a quarter of the time that one photo takes.
import CVips
import Glibc

enum LibraryModules {
    /// Lets libvips find none when it starts.
    static func leaveOut() {
        // `VIPSHOME` overrides the folder that modules are loaded from.
        guard !hasHome, folder != nil, open != nil else { return }
        setenv(home, nowhere, 1)
    }

    /// Whether libvips has found none, so that each is loaded when it is needed.
    static var areLeftOut: Bool { getenv(home).map { String(cString: $0) == nowhere } ?? false }

    /// Whether `VIPSHOME` is set, by the user or by this process.
    static var hasHome: Bool { getenv(home) != nil }

    static func removeHome() { unsetenv(home) }

    /// The variable that says where libvips is installed; it looks for modules in the folder `lib` of that.
    private static let home = "VIPSHOME"
    private static let nowhere = "/dev/null"

    /// The folder with the modules of the libvips that is running.
    static let folder: String? = {
        guard let library = LibraryFile(with: "vips_version") else { return nil }
        let folder = "\(library.folder)/vips-modules-\(vips_version(0)).\(vips_version(1))"
        return access(folder, R_OK | X_OK) == 0 ? folder : nil
    }()

    /// GLib's loader of modules, which libvips brings along.
    static let open: Open? = dlsym(nil, "g_module_open").map { unsafeBitCast($0, to: Open.self) }

    typealias Open = @convention(c) (_ path: UnsafePointer<CChar>?, _ flags: UInt32) -> OpaquePointer?
}

extension VipsLibrary {
    /// Loads one of libvips' modules, such as `heif`. Does nothing if it is loaded, or if this libvips has none of that
    /// name: the codec is then in libvips itself, or missing.
    package static func loadModule(_ name: String) {
        guard LibraryModules.areLeftOut, let folder = LibraryModules.folder, let open = LibraryModules.open else {
            return
        }
        // 1: what it needs is looked up when it is called.
        _ = open("\(folder)/vips-\(name).so", 1)
    }
}
