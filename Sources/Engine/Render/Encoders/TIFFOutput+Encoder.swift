import Pipeline
import Vips

extension TIFFOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        // What differs from the neighbour packs better than the values themselves.
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
