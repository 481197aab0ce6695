// The rules for stages in pipelines for sets: which come before the one that joins the set, and which after it. No
// other pipeline has stages for sets.

/// Whether a pipeline works on single pictures or on sets of them.
package enum SourceKind: String, ParameterWord {
    case picture, set
}

struct SetRules {
    let kind: SourceKind
    let shared: [StageUse]
    let renditions: [Rendition]
    let requirement: Condition?
    let preview: PreviewUse

    /// Notes every stage that is in the wrong place.
    func check(_ p: inout Parameters) {
        switch kind {
        case .picture: refuseJoining(&p)
        case .set:
            for rendition in renditions where rendition.isWhole { checkJoining(rendition, &p) }
            refuseLooking(&p)
            if preview == .allow {
                p.problem(at: "preview", "members of sets are never their previews; remove 'preview'")
            }
        }
    }

    /// The members would all have to be decoded before the set is planned.
    private func refuseLooking(_ p: inout Parameters) {
        let message = "'transparent' is not looked for in sets; use 'alpha'"
        for use in shared + renditions.flatMap(\.stages) where use.condition?.needsPixels == true {
            p.problem(position: use.position, message)
        }
        for rendition in renditions where rendition.condition?.needsPixels == true {
            p.problem(position: rendition.position, message)
        }
        if requirement?.needsPixels == true { p.problem(at: "require", message) }
    }

    private func refuseJoining(_ p: inout Parameters) {
        for use in shared + renditions.flatMap(\.stages) where use.isJoining {
            p.problem(
                position: use.position,
                "'\(use.name)' takes a set of pictures; write 'source: set' at the top of the file")
        }
    }

    /// Every way from the set to a file has one stage that joins, and stages that look at the picture come after it.
    private func checkJoining(_ rendition: Rendition, _ p: inout Parameters) {
        if rendition.layout == .freedesktop {
            p.problem(
                position: rendition.position,
                "'\(rendition.name)' is a thumbnail of one file, which a set is not; remove 'layout'")
        }
        if !rendition.sameFormat.isEmpty {
            p.problem(
                position: rendition.position,
                "'\(rendition.name)' has 'format: same', but a set has no format of its own; name a format")
        }
        let path = shared + rendition.stages
        guard let join = path.firstIndex(where: \.isJoining) else {
            let message =
                "'\(rendition.name)' makes no picture of the set; add one of the stages that do, such as 'stitch', 'contact-sheet' or 'animate'"
            return p.problem(position: rendition.position, message)
        }
        // Mistakes in the shared stages are reported once.
        let isFirst = renditions.first(where: \.isWhole)?.name == rendition.name
        for (index, use) in path.enumerated() where index >= shared.count || isFirst {
            if index > join && use.isJoining {
                p.problem(
                    position: use.position,
                    "'\(use.name)' comes after '\(path[join].name)', which has joined the set already; remove one")
            }
            if index < join && use.stage.needsMeasurement {
                let message =
                    "'\(use.name)' would find something else in each member; put it after '\(path[join].name)'"
                p.problem(position: use.position, message)
            }
        }
        if join >= shared.count, path[join].makesAnimation, !rendition.save.format.supportsAnimation {
            let message =
                "'\(path[join].name)' makes an animation, which \(rendition.save.format.rawValue) cannot hold; save as \(alternatives(OutputFormat.animated))"
            p.problem(position: path[join].position, message)
        }
    }
}

extension StageUse {
    package var isJoining: Bool { stage is any JoiningStage }
    var makesAnimation: Bool { (stage as? any JoiningStage)?.makesAnimation ?? false }
}
