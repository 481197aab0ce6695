// The quality that reaches a target, found by encoding the finished picture several times.
import Glibc
import Messages
import Pipeline
import Stages
import System
import Vips

extension Renderer {
    /// Encodes a picture with the quality that reaches the rendition's target.
    /// - Parameters:
    ///   - picture: in memory.
    ///   - rest: bytes of what comes behind it in the file.
    /// - Returns: the quality that was taken; nil without a target, if nothing was written.
    func encode(
        _ picture: Image, _ rendition: RenditionPlan, strip: Bool, beside rest: Int, to output: OpenFile
    ) throws -> (reached: ReachedQuality, isTooLarge: Bool, warning: Warning?)? {
        let save = rendition.rendition.save
        guard let target = save.target, let rated = save.encoder as? any RatedOutput & OutputEncoder else { return nil }
        let reference = try target.leastSimilarity.map { _ in try StructuralSimilarity(to: picture) }
        var search = QualitySearch(target, upTo: rated.quality)
        // The file of the best trial, if another one came after it.
        var best: [UInt8]?
        while let quality = search.next {
            if best == nil, let last = search.trials.last, last == search.best {
                best = try output.bytes(at: 0, count: last.bytes - rest)
            }
            try output.empty()
            try rated.rated(quality).save(picture, as: rendition.output, to: output, strip: strip)
            let similarity = try reference.flatMap { try read(output, rendition).flatMap($0.similarity) }
            search.note(
                QualitySearch.Trial(quality: quality, bytes: try output.status().bytes + rest, similarity: similarity))
            if search.best == search.trials.last { best = nil }
        }
        if let best {
            try output.empty()
            try output.append(best, for: BytePath(rendition.title))
        }
        guard let taken = search.best else { return nil }
        let reached = ReachedQuality(
            quality: taken.quality, similarity: taken.similarity, trials: search.trials.count)
        let isTooLarge = target.mostBytes.map { taken.bytes > $0 } ?? false
        return (reached, isTooLarge, search.isReached(taken) ? nil : rendition.missed(target, by: taken))
    }

    /// The picture that a reader gets of the file.
    private func read(_ output: OpenFile, _ rendition: RenditionPlan) throws -> Image? {
        guard lseek(output.descriptor, 0, SEEK_SET) == 0 else { throw SystemError("read a rendition") }
        guard let format = rendition.format.asSource else { return nil }
        let picture = try Loader.open(
            ReceivedFile(output), format: format, Loader.Opening(allFrames: rendition.output.frames > 1)
        ).picture
        if format.decoder.leavesMessages { _ = VipsLibrary.takeErrors() }
        return try picture.inLibvipsNumbers
    }
}

extension RenditionPlan {
    /// The warning that a target was not reached.
    fileprivate func missed(_ target: QualityTarget, by best: QualitySearch.Trial) -> Warning {
        var words: [String] = []
        if let most = target.mostBytes, best.bytes > most {
            words.append("needs \(best.bytes) bytes at quality \(best.quality), and \(most) were allowed")
        }
        if let least = target.leastSimilarity, let similarity = best.similarity, similarity < least {
            let shown = writtenNumber((similarity * 10_000).rounded(.down) / 10_000)
            words.append(
                "has a similarity of \(shown) at quality \(best.quality), and \(writtenNumber(least)) was asked for")
        }
        if words.isEmpty { words.append("cannot be compared with its picture: an encoder has left out frames") }
        let remedy = "make it smaller, or change 'max-bytes', 'quality' or 'min-quality'"
        return Warning(.targetMissed, "'\(title)' \(words.joined(separator: ", and ")); \(remedy)")
    }
}
