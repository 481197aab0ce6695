// The subject that conditions are judged for, and the result, a finding.

/// A source, as far as conditions ask about it.
package struct Subject: Sendable {
    /// The facts of the picture, or those of the members of a set.
    package let pictures: [MemberFacts]
    package let isSet: Bool
    /// Its path below the folder that was searched.
    package let path: BytePath
    /// Whether a pixel is not opaque; nil if nobody has looked, and the header does not say.
    package let isTransparent: Bool?

    package init(picture facts: SourceFacts, path: BytePath) {
        pictures = [MemberFacts(name: path, facts: facts)]
        isSet = false
        self.path = path
        isTransparent = facts.hasAlpha ? facts.isTransparent : false
    }

    package init(set members: [MemberFacts], path: BytePath) {
        (pictures, isSet, isTransparent) = (members, true, nil)
        self.path = path
    }

    /// Whether a condition holds, as far as that is known.
    package func judge(_ condition: Condition) -> Finding {
        var isKnown = true
        var facts: [String] = []
        for test in condition.tests {
            let finding = judge(test)
            if finding.holds == false { return finding }
            isKnown = isKnown && finding.holds == true
            facts.append(finding.fact)
        }
        let fact = facts.joined(separator: ", ")
        return Finding(holds: isKnown ? true : nil, fact: fact, words: fact)
    }

    private func judge(_ test: Condition.Test) -> Finding {
        switch test {
        case .any(let conditions):
            let findings = conditions.map(judge)
            if let held = findings.first(where: { $0.holds == true }) { return held }
            return Finding(
                holds: findings.contains { $0.holds == nil } ? nil : false,
                fact: findings.map(\.fact).joined(separator: ", "),
                words: findings.map(\.words).joined(separator: "; "))
        case .not(let condition):
            let finding = judge(condition)
            let facts = finding.fact
            return Finding(
                holds: finding.holds.map(!), fact: facts,
                words: finding.holds == true ? "\(facts), which 'not' excludes" : facts)
        case .set(let wanted):
            return Finding(isSet == wanted, found: isSet ? "it is a set" : "it is no set", wanted: "set: \(wanted)")
        case .count(let interval, let written):
            let count = isSet ? pictures.count : 0
            let found = isSet ? "the set has \(counted(count, "picture"))" : "it is no set"
            return Finding(isSet && interval.contains(Double(count)), found: found, wanted: written)
        case .path(let part, let patterns): return judge(part, patterns)
        case .flag, .format, .shape, .number: return judgePictures(test)
        }
    }

    private func judge(_ part: Condition.PathPart, _ patterns: PathPatterns) -> Finding {
        let names = path.components[...]
        switch part {
        case .name:
            let holds = patterns.patterns.contains { $0.matches(names.suffix(1), isFolder: false) }
            return Finding(holds, found: "name is '\(path.lastComponent.printable)'", wanted: patterns.written)
        case .folder:
            let folders = names.dropLast()
            let holds = patterns.patterns.contains { pattern in
                (0..<folders.count).contains { pattern.matches(folders.prefix($0 + 1), isFolder: true) }
            }
            let found = folders.isEmpty ? "it is in no folder" : "folder is '\(path.directory.printable)'"
            return Finding(holds, found: found, wanted: patterns.written)
        }
    }

    /// The finding for a test that every picture of a set must pass.
    private func judgePictures(_ test: Condition.Test) -> Finding {
        var isKnown = true
        var last = Finding(holds: true, fact: "", words: "")
        for picture in pictures {
            let finding = judge(test, of: picture.facts)
            if finding.holds == false {
                return isSet
                    ? finding.of(picture.name) : finding
            }
            isKnown = isKnown && finding.holds == true
            last = finding
        }
        return Finding(holds: isKnown ? true : nil, fact: last.fact, words: last.words)
    }

    private func judge(_ test: Condition.Test, of facts: SourceFacts) -> Finding {
        let size = facts.uprightSize
        switch test {
        case .flag(let flag, let wanted):
            let found: Bool? =
                switch flag {
                case .alpha: facts.hasAlpha
                case .animated: facts.isAnimated
                case .profile: facts.hasProfile
                case .transparent: isTransparent
                }
            let words = found.map { "\(flag.rawValue) is \($0)" } ?? "\(flag.rawValue) is not known yet"
            return Finding(holds: found.map { $0 == wanted }, fact: words, words: words)
        case .format(let formats):
            return Finding(
                formats.contains(facts.format), found: "format is \(facts.format.rawValue)",
                wanted: alternatives(formats.map(\.rawValue)))
        case .shape(let shapes):
            let shape = PictureShape(of: size)
            return Finding(
                shapes.contains(shape), found: "orientation is \(shape.rawValue)",
                wanted: alternatives(shapes.map(\.rawValue)))
        case .number(let measure, let interval, let written):
            let number =
                switch measure {
                case .width: Double(size.width)
                case .height: Double(size.height)
                case .pixels: Double(size.area)
                case .ratio: Double(size.width) / Double(size.height)
                }
            let found = measure == .ratio ? RatioUnit.written(number) : CountUnit.written(number)
            return Finding(interval.contains(number), found: "\(measure.rawValue) is \(found)", wanted: written)
        case .path, .set, .count, .any, .not: return Finding(holds: nil, fact: "", words: "")
        }
    }
}

/// The result of judging a condition.
package struct Finding: Hashable, Sendable {
    /// Nil if only the pixels could say it.
    package let holds: Bool?
    /// The fact that was found.
    let fact: String
    /// The same, and if that is not enough what is expected.
    package let words: String

    init(holds: Bool?, fact: String, words: String) { (self.holds, self.fact, self.words) = (holds, fact, words) }

    fileprivate init(_ holds: Bool, found: String, wanted: String) {
        self.init(holds: holds, fact: found, words: holds ? found : "\(found), expected \(wanted)")
    }

    /// The same of a member of a set.
    fileprivate func of(_ member: BytePath) -> Finding {
        let name = "'\(member.printable)': "
        return Finding(holds: holds, fact: name + fact, words: name + words)
    }
}
