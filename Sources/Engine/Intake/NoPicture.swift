// Files that a search and an inbox pass over: recognizably something else than pictures that are read.
package import Pipeline
import System

/// Why a file that was found is no source.
package enum NoPicture: Hashable, Sendable {
    /// Neither its name nor its content is that of a picture.
    case somethingElse
    /// It is in a format that is never read, in the words of messages.
    case unread(String)
    /// It is the sidecar of a picture that is not there.
    case lonelySidecar(of: BytePath)
    /// It is the same photo as another file, which is taken: a raw file and its JPEG.
    case sameAs
    /// It is in a format that is read on request only, which was not requested.
    case onRequest(SourceFormat)
}

extension NoPicture {
    /// The same for a file in a set, whose members may be in no format on request.
    var inSet: NoPicture { if case .onRequest(let format) = self { .unread(format.title) } else { self } }

    /// For the log and the status of an inbox.
    package var sentence: String {
        switch self {
        case .somethingElse: "it is no picture, by its name and its content"
        case .unread(let name): "it is no picture that is read: found \(name)"
        case .lonelySidecar(let picture): "it is a sidecar and waits for '\(picture.printable)'"
        case .sameAs: "a raw file and a JPEG of one name are one photo, and the other file is taken"
        case .onRequest(let format):
            "it is \(format.title), which is read if the inbox has 'allow: [\(format.rawValue)]'"
        }
    }
}

/// Why a file is no source, by its name and its content; nil for a source. A file that cannot be examined may be one.
/// - Parameters:
///   - path: a path whose last component is the file's name.
///   - folder: the folder that the file is in.
///   - allowed: formats on request that are read.
///   - followLinks: a link stands for what it leads to; otherwise it is a link and nothing else.
func noPicture(
    _ path: BytePath, in folder: Directory, allowed: Set<SourceFormat>, followLinks: Bool = true
) -> NoPicture? {
    guard !isNamedLikeAPicture(path, allowed: allowed) else { return nil }
    let name = path.lastComponent
    guard let found = try? folder.status(name, followLinks: followLinks) else {
        // Either it cannot be examined, or it is a link that leads nowhere.
        return (try? folder.status(name))??.kind == .link ? .somethingElse : nil
    }
    guard found.kind == .regular, found.bytes > 0 else { return .somethingElse }
    guard let file = try? folder.opening(name, followLinks: followLinks) else { return nil }
    return noPicture(in: file, at: 0, count: found.bytes, allowed: allowed)
}

/// The same by the content of a range of bytes alone.
func noPicture(in file: OpenFile, at offset: Int, count: Int, allowed: Set<SourceFormat>) -> NoPicture? {
    guard let beginning = try? file.bytes(at: offset, count: min(count, 4096)) else { return nil }
    switch guessFormat(beginning) {
    case .readable(let format): return format.isRead(allowed) ? nil : .onRequest(format)
    case .cameraRaw: return SourceFormat.raw.isRead(allowed) ? nil : .onRequest(.raw)
    case .recognised(let name), .noPicture(let name): return .unread(name)
    case .unknown: return .somethingElse
    }
}

/// Returns true if a name is that of a picture. Such a file is always a source: if it is broken, its failure must be
/// seen.
/// - Parameter allowed: formats on request that are read.
package func isNamedLikeAPicture(_ path: BytePath, allowed: Set<SourceFormat>) -> Bool {
    let name = SourceName(path).fileExtension
    return SourceFormat.allCases.contains { $0.isRead(allowed) && $0.fileExtensions.contains(name) }
}

extension SourceFormat {
    fileprivate func isRead(_ allowed: Set<SourceFormat>) -> Bool { !isOnRequest || allowed.contains(self) }
}
