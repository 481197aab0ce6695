// What a search for pictures passes over: files that are recognisably something else.
package import Pipeline

/// Returns true if a name is that of a picture. Such a file is always a source: if it is broken, its failure must be
/// seen.
/// - Parameter allowed: formats on request that are read.
package func isNamedLikeAPicture(_ path: BytePath, allowed: Set<SourceFormat>) -> Bool {
    let name = SourceName(path).fileExtension
    return SourceFormat.allCases.contains { $0.isRead(allowed) && $0.fileExtensions.contains(name) }
}

/// Returns true if the content of a file is no picture that can be read. A file that cannot be examined may be one.
func isNoPicture(_ name: BytePath, in folder: Directory, allowed: Set<SourceFormat>) -> Bool {
    guard let found = try? folder.status(name, followLinks: true) else {
        // Either it cannot be examined, or it is a link that leads nowhere.
        return (try? folder.status(name))??.kind == .link
    }
    guard found.kind == .regular, found.bytes > 0 else { return true }
    guard let file = try? folder.opening(name, followLinks: true) else { return false }
    return isNoPicture(file, at: 0, count: found.bytes, allowed: allowed)
}

/// The same for a range of bytes.
func isNoPicture(_ file: OpenFile, at offset: Int, count: Int, allowed: Set<SourceFormat>) -> Bool {
    guard let beginning = try? file.bytes(at: offset, count: min(count, 4096)) else { return false }
    guard case .readable(let format) = guessFormat(beginning) else { return true }
    return !format.isRead(allowed)
}

extension SourceFormat {
    fileprivate func isRead(_ allowed: Set<SourceFormat>) -> Bool { !isOnRequest || allowed.contains(self) }
}
