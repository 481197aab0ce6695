// What other programs leave in folders of pictures. It is nobody's source, and nobody wants to hear of it.

/// Whether a file or folder of this name is passed over.
package func isIgnored(_ name: [UInt8]) -> Bool {
    guard name.first != UInt8(ascii: ".") else { return true }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    let endings = [".part", ".partial", ".filepart", ".tmp", ".crdownload", ".!ut", ".swp", "~"]
    let names = ["thumbs.db", "ehthumbs.db", "desktop.ini", "@eadir", "#recycle", "$recycle.bin", "__macosx"]
    return endings.contains(where: text.hasSuffix) || names.contains(text) || text.hasPrefix("~$")
}
