import Pipeline
import Vips

extension TIFFOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        // Differences between neighbors pack better than the values.
        let predictor = compression == .jpeg || compression == .none ? "none" : "horizontal"
        var options: [(String, Argument)] = [
            ("compression", .string(compression.rawValue)), ("Q", .int(quality)), ("predictor", .string(predictor)),
        ]
        if let tile { options += [("tile", true), ("tile_width", .int(tile)), ("tile_height", .int(tile))] }
        if isPyramid { options += [("pyramid", true)] }
        // Offsets of 32 bits do not reach further; a compressed picture may be a little larger than the plain one.
        let mostBytes = saturating(picture.bytes, picture.bytes / 2)
        if mostBytes > Int(UInt32.max) { options += [("bigtiff", true)] }
        return ("tiffsave_target", options)
    }
}
