import CPango

/// Fonts that texts may be drawn in: those installed, and perhaps that of a file. For one thread.
package final class FontLibrary {
    let fonts: UnsafeMutablePointer<cpango_fonts>

    /// The fonts that are installed.
    /// - Parameter file: a path at which the font of a file can be read for as long as this lives.
    /// - Returns: nil if the file holds no font.
    package init?(file: String? = nil) {
        guard let fonts = cpango_new_fonts(file) else { return nil }
        self.fonts = fonts
    }

    deinit { cpango_free_fonts(fonts) }

    /// Whether a family of this name is there, and would not be replaced by another one.
    /// - Parameter family: a name, or several with commas between them, of which one suffices.
    package func has(family: String) -> Bool {
        family.split(separator: ",").contains { name in
            cpango_has_family(fonts, String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()))
        }
    }
}
