// Looks at sources that are due, and the offers that follow.
import Pipeline
import System

extension WatchLoop {
    func lookAtDueSources(_ directory: Directory) -> [Offer] {
        var look = SourceLook(root: directory, ignored: settings.ignored, largest: settings.largest)
        look.companions = settings.companions
        var ready: [Offer] = []
        for (action, found) in slowLooks.takeOutcomes() { follow(record(found, of: action), look, &ready) }
        let end = Moment.now + settings.lookTime
        for _ in 0..<Self.stepSize {
            guard let action = tracker.nextAction(at: .now) else { break }
            follow(action, look, &ready)
            if .now >= end { break }
        }
        return ready
    }

    /// Performs an action of the tracker, and those that follow from it.
    func follow(_ first: SourceTracker.Action?, _ look: SourceLook, _ ready: inout [Offer]) {
        var (next, look) = (first, look)
        while let action = next {
            if case .offer(let path, let isSet, let status, let order) = action {
                goesOn()
                if let offer = offer(path, isSet: isSet, status, order, look.root) { ready.append(offer) }
                return
            }
            goesOn()
            look.deadline = .now + settings.lookTime
            next = record(Result { () throws(SystemError) in try look.find(action) }, of: action)
        }
    }

    func offer(
        _ path: BytePath, isSet: Bool, _ status: FileStatus, _ order: UInt64, _ inbox: Directory
    ) -> Offer? {
        guard let root, !isDone(path, status) else {
            tracker.answered(path, observed: status.version, with: .taken, at: .now)
            return nil
        }
        if !isSet, hasPicture(sidecar: path, in: inbox) {
            // It leaves with that.
            tracker.answered(path, observed: status.version, with: .taken, at: .now)
            return nil
        }
        do throws(SystemError) {
            if !isSet, settings.companions.mayBePaired(path), try isPassedOver(path, in: inbox) {
                return passOver(path, .sameAs)
            }
        } catch {
            // Nobody can tell now which of the two is the picture.
            answered(path, observed: status.version, with: .blocked(error))
            return nil
        }
        if !isSet, let reason = passesOver(path, in: inbox) { return passOver(path, reason) }
        return Offer(inbox: settings.name, root: root, path: path, isSet: isSet, status: status, order: order)
    }

    private func passOver(_ path: BytePath, _ reason: NoPicture) -> Offer? {
        logOnce(path, .passedOver(path, reason))
        tracker.passOver(path, reason, at: .now)
        return nil
    }

    /// Returns true if another file of the same photo is taken in a file's place.
    func isPassedOver(_ path: BytePath, in inbox: Directory) throws(SystemError) -> Bool {
        try settings.companions.isPassedOver(path.lastComponent, in: inbox.folder(path.directory))
    }

    /// Whether a file is the sidecar of a picture beside it.
    func hasPicture(sidecar path: BytePath, in inbox: Directory) -> Bool {
        guard let picture = pictureOf(sidecar: path) else { return false }
        return ((try? FileLocation.below(inbox, picture).status()) ?? nil)?.kind == .regular
    }

    /// The path of the picture that a file would be the sidecar of; nil if the inbox takes none, or by its name.
    func pictureOf(sidecar path: BytePath) -> BytePath? {
        settings.companions.sidecars.takes && !settings.takesSets ? Sidecar.picture(of: path) : nil
    }

    /// Why a complete file is no source, as a search judges it; nil for a source.
    func passesOver(_ path: BytePath, in inbox: Directory) -> NoPicture? {
        if let picture = pictureOf(sidecar: path) { return .lonelySidecar(of: picture.lastComponent) }
        // Most files need no folder for that.
        guard !isNamedLikeAPicture(path, allowed: settings.allowed), let folder = try? inbox.folder(path.directory)
        else {
            return nil
        }
        return noPicture(path, in: folder, allowed: settings.allowed, followLinks: false)
    }

    /// Tells the tracker what came of an action.
    /// - Parameter found: nil if there was no time for it.
    /// - Returns: the action that follows.
    func record(
        _ found: Result<SourceLook.Found?, SystemError>, of action: SourceTracker.Action
    ) -> SourceTracker.Action? {
        let path = action.path
        switch found {
        case .success(nil): slowLooks.add(action)
        case .success(.look(.source(let status, let signs))):
            // A set that is done and stays in the inbox; a file of that kind is left out by the scan.
            let isOver = status.kind == .directory && isDone(path, status)
            return tracker.looked(path, status: isOver ? nil : status, signs: signs, at: .now)
        case .success(.look(.irregular(let kind))):
            logOnce(path, .irregular(path, kind))
            return tracker.looked(path, status: nil, at: .now)
        case .success(.look(.nothing)): return tracker.looked(path, status: nil, at: .now)
        case .success(.examination(let found)): return tracker.examined(path, found, at: .now)
        case .failure(let error) where error.isAbsence: return tracker.looked(path, status: nil, at: .now)
        case .failure(let error):
            tracker.failed(path, error, at: .now)
            logOnce(path, .blocked(path, error))
        }
        return nil
    }
}
