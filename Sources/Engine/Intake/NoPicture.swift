// What a search for pictures passes over: files that are recognisably something else.
package import Pipeline

/// Returns true if a name is that of a picture. Such a file is always a source: if it is broken, its failure must be seen.
package func isNamedLikeAPicture(_ path: BytePath) -> Bool {
    let extensions = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "tif", "tiff", "heic", "heif", "hif", "avif", "avifs",
    ]
    return extensions.contains(SourceName(path).fileExtension)
}

/// Returns true if the content of a file is no picture that can be read. A file that cannot be examined may be one.
func isNoPicture(_ name: BytePath, in folder: Directory) -> Bool {
    guard let found = try? folder.status(name, followLinks: true) else {
        // Either it cannot be examined, or it is a link that leads nowhere.
        return (try? folder.status(name))??.kind == .link
    }
    guard found.kind == .regular, found.bytes > 0 else { return true }
    guard let file = try? folder.opening(name, followLinks: true) else { return false }
    return isNoPicture(file, at: 0, count: found.bytes)
}

/// The same for a range of bytes.
func isNoPicture(_ file: OpenFile, at offset: Int, count: Int) -> Bool {
    if case .readable = guessFormat(file.bytes(at: offset, count: min(count, 4096))) { return false }
    return true
}
