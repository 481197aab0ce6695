import Pipeline
import Vips

extension JPEGXLOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        ("jxlsave_target", [("Q", .int(quality)), ("lossless", .bool(lossless)), ("effort", .int(effort))])
    }

    static var blockedClass: String? { "VipsForeignSaveJxl" }
}
