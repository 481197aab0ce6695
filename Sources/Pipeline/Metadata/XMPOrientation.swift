// XMP that says how to turn a picture which has been turned.
// https://developer.adobe.com/xmp/docs/xmp-namespaces/tiff/

/// A packet that asks for nothing to be turned: each `tiff:Orientation`, as an attribute or an element, says 1. Some
/// programs go by it and not by EXIF.
package func uprightXMP(_ packet: [UInt8]) -> [UInt8] {
    let name = Array("tiff:Orientation".utf8)
    var result = packet
    var rest = packet[...]
    while let found = rest.firstRange(of: name) {
        rest = packet[found.upperBound...]
        // `="6"`, `= '6'` or `>6<`
        let value = rest.drop { " \t\r\n=>\"'".utf8.contains($0) }
        if let digit = value.first, (UInt8(ascii: "2")...UInt8(ascii: "8")).contains(digit),
            value.dropFirst().first.map({ "\"'< \t\r\n".utf8.contains($0) }) ?? false
        {
            result[value.startIndex] = UInt8(ascii: "1")
        }
    }
    return result
}
