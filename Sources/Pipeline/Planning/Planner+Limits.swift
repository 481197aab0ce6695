// The limits that a source and what stages make of it must keep.

extension Planner {
    func checkLimits(_ source: SourceFacts, loadsAllFrames: Bool) throws(PlanFailure) {
        if let page = pipeline.page, page > source.frames {
            let found = source.frames == 1 ? "one" : "\(source.frames) pages or frames"
            throw PlanFailure(
                .noSuchPage, stage: "read",
                "expected page \(page), which the pipeline asks for ('page'); the file has \(found)")
        }
        let frames = loadsAllFrames ? source.frames : 1
        guard frames <= limits.maximumFrames else {
            let message = "the animation has \(frames) frames; the limit is \(limits.maximumFrames) (max-frames)"
            throw PlanFailure(.tooManyFrames, stage: "read", message)
        }
        let (pixels, overflow) = source.size.area.multipliedReportingOverflow(by: frames)
        guard !overflow, pixels <= limits.maximumPixels else {
            let what = frames > 1 ? "\(frames) frames of \(source.size)" : source.size.description
            let message = "the picture has \(what) pixels; the limit is \(limits.maximumPixels) in all (max-pixels)"
            throw PlanFailure(.tooManyPixels, stage: "read", message)
        }
        if let coded = source.coded?.size, coded.area > limits.maximumPixels {
            let message =
                "the picture has \(source.size) pixels, and its codec's header says \(coded); the limit is \(limits.maximumPixels) in all"
            throw PlanFailure(.tooManyPixels, stage: "read", message + " (max-pixels)")
        }
        guard max(source.size.width, source.size.height) <= limits.maximumSide else {
            let message = "the picture has \(source.size) pixels; the limit is \(limits.maximumSide) a side (max-side)"
            throw PlanFailure(.tooLongSide, stage: "read", message)
        }
        guard source.bands <= limits.maximumBands else {
            throw PlanFailure(
                .tooManyBands, stage: "read",
                "the picture has \(source.bands) bands; the limit is \(limits.maximumBands) (max-bands)")
        }
        for (what, bytes, limit, name) in [
            ("metadata", source.metadataBytes, limits.maximumMetadataBytes, "max-metadata-bytes"),
            ("a color profile", source.profileBytes, limits.maximumProfileBytes, "max-profile-bytes"),
        ] where bytes > limit {
            throw PlanFailure(
                .tooMuchMetadata, stage: "read",
                "the picture has \(what) of \(bytes) bytes; the limit is \(limit) (\(name))")
        }
    }

    func checkPixels(_ step: PlannedStage) throws(PlanFailure) {
        // The frames that a set becomes are bounded by the memory that they take.
        let isSet = pipeline.source == .set
        for picture in [step.output] + step.plan.intermediates {
            let size = picture.size
            let (pixels, overflow) = size.area.multipliedReportingOverflow(by: isSet ? 1 : picture.frames)
            guard !overflow, pixels <= limits.maximumPixels, max(size.width, size.height) <= maximumCoordinate else {
                let message =
                    "'\(step.name)' would make a picture of \(size) pixels; the limit is \(limits.maximumPixels) (max-pixels)"
                throw PlanFailure(.tooManyPixels, stage: step.name, message)
            }
        }
    }
}
