import Pipeline
import System
import Vips

extension JPEGSource: SourceDecoder {
    static func options(shrink: Int, factor: Double, allFrames: Bool) -> [(String, Argument)] {
        shrink > 1 ? [("shrink", .int(shrink))] : []
    }

    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) throws -> Image? {
        guard beginning.isScaled || beginning.isHeld,
            let decoder = JPEGDecoder(file.opened, like: opened, shrink: shrink)
        else { return nil }
        return beginning.isHeld ? try decoder.decoded() : try decoder.streamed()
    }

    static var findsFaultsLate: Bool { true }

    static let sample = """
        /9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi\
        9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAA\
        AAAAAAAAAAAAAAf/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAh\
        EDEQA/AJ+AD//Z
        """
}
