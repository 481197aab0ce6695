import Pipeline
import Vips

extension TIFFOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        // Differences between neighbors pack better than the values.
        let predictor = compression == .jpeg || compression == .none ? "none" : "horizontal"
        return (
            "tiffsave_target",
            [
                ("compression", .string(compression.rawValue)), ("Q", .int(quality)),
                ("predictor", .string(predictor)),
            ]
        )
    }
}
