// Where the fonts of a system are.

package enum FontFolders {
    /// With those of the configuration, and of what fontconfig remembers.
    package static let all = [
        "/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/usr/local/share/fonts", cache,
    ]
    package static let cache = "/var/cache/fontconfig"
}
