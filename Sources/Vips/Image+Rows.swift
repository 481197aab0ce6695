// Pictures whose rows come from code of ours, while libvips or the scaler asks for them.
import CVips

/// Gives the rows of a picture, once, from top to bottom, for one thread.
package protocol RowReader: AnyObject {
    /// Writes the next rows.
    /// - Parameter stride: bytes from one row to the next.
    /// - Returns: false if there are none, or there is a fault in them.
    func read(_ rows: UnsafeMutablePointer<UInt8>, stride: Int, count: Int) -> Bool
}

extension Image {
    /// A picture with this one's size, kind of pixels and metadata, but with the rows of a reader. To ask for others
    /// than the next is an error.
    package func withRows(of reader: any RowReader) throws(VipsError) -> Image {
        guard let new = vips_image_new() else { throw VipsError.failed(operation: "rows") }
        let result = Image(owning: new)
        // The result keeps the reader for as long as libvips has it, which may be longer than `result` lives.
        let link = Unmanaged.passRetained(RowLink(reader))
        cvips_keep(new, link.toOpaque()) { Unmanaged<RowLink>.fromOpaque($0!).release() }
        guard cvips_pipeline(new, pointer) == 0, vips_image_generate(new, nil, readRows, nil, nil, link.toOpaque()) == 0
        else {
            throw VipsError.failed(operation: "rows")
        }
        return result
    }
}

extension Image {
    /// How many rows of a picture, whose rows come once, can be read until one cannot.
    package func rowsBeforeFault() throws(VipsError) -> Int {
        let region = try Region(of: self)
        return (0..<height).first { row in
            do throws(VipsError) {
                try region.prepare(rows: row..<row + 1)
                return false
            } catch {
                return true
            }
        } ?? height
    }
}

/// A reader and how far it has come.
private final class RowLink {
    private let reader: any RowReader
    private var next = 0

    init(_ reader: any RowReader) { self.reader = reader }

    func read(_ region: UnsafeMutablePointer<VipsRegion>) -> Bool {
        let (area, image) = (region.pointee.valid, region.pointee.im.pointee)
        guard area.left == 0, area.width == image.Xsize, Int(area.top) == next,
            let first = cvips_region_place(region, 0, area.top)
        else {
            return false
        }
        next += Int(area.height)
        let rows = UnsafeMutableRawPointer(mutating: first).assumingMemoryBound(to: UInt8.self)
        return reader.read(rows, stride: Int(region.pointee.bpl), count: Int(area.height))
    }
}

private let readRows: VipsGenerateFn = { output, _, _, link, _ in
    Unmanaged<RowLink>.fromOpaque(link!).takeUnretainedValue().read(output!) ? 0 : -1
}
