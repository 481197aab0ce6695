import ArgumentParser
import Engine
import Pipeline
import System

/// `imagemill init`: a pipeline and a drop folder to begin with.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a commented pipeline and a drop folder to begin with.",
        discussion: """
            Example: imagemill init shop

            Writes pipeline.yaml and mill.yaml, and makes the folders drop and out. Files that are there already are never overwritten.
            """)

    @Argument(help: "The folder, made if it is missing. Default: the working folder.")
    var folder = "."

    func run() throws {
        let root = RawArguments.paths([folder])[0]
        do {
            if let found = try FileSystem.status(root), found.kind != .directory {
                printError("imagemill: '\(root.printable)' is a file; name a folder")
                throw ExitStatus.usage
            }
            let files = [("pipeline.yaml", Self.pipeline), ("mill.yaml", Self.mill)].map {
                (path: root.appending(BytePath($0.0)), text: $0.1)
            }
            for file in files where try FileSystem.status(file.path, followLinks: false) != nil {
                printError("imagemill: '\(file.path.printable)' is there already; nothing was written")
                throw ExitStatus.usage
            }
            for name in ["drop", "out"] { try FileSystem.makeDirectories(root.appending(BytePath(name))) }
            for file in files { try FileSystem.write(file.text, to: file.path) }
        } catch let error as SystemError {
            throw ExitStatus.explaining(error, pipeline: "")
        }
        printOutput(next(root))
    }

    private func next(_ root: BytePath) -> String {
        func path(_ name: String) -> String {
            shellQuoted(folder == "." ? BytePath(name) : root.appending(BytePath(name)))
        }
        // Not into the outbox: `run` and `watch` would each keep the other's renditions, and make copies with -2.
        return """
            wrote \(path("pipeline.yaml")), which says what to do with each picture, and \(path("mill.yaml")), which describes a drop folder

            Render pictures once:    imagemill run \(path("pipeline.yaml")) PICTURES -o \(path("pictures"))
            Or watch a folder:       imagemill watch \(path("mill.yaml"))
                                     and copy pictures into \(path("drop"))

            """
    }

    private static let pipeline = """
        # What to do with each picture. `imagemill check pipeline.yaml` finds mistakes; `imagemill plan photo.jpg pipeline.yaml` shows what it
        # does with one picture; `imagemill stages` lists all stages.

        # stages:                             # done once, for all renditions
        #   - trim: {}                        # removes an even border

        renditions:
          large:                              # photo-large.webp
            stages:
              - resize: { size: "1600x1600>" } # fits into 1600×1600; > means: only shrink
            save: { format: webp, quality: 78 }
          thumb:                              # photo-thumb.jpg and photo-thumb@2x.jpg
            scale: [1, 2]
            stages:
              - frame: { width: 240, height: 240, mode: aspect-fill } # fills the square; what is too much is cut
              # - sharpen: { amount: 1.0 }
            save: { format: jpeg, quality: 80 }
            # file: "{stem}-thumb{scale}.{ext}"  # the name, if you want another one

        """

    private static let mill = """
        # A drop folder. `imagemill watch mill.yaml` renders what is copied into drop/, and puts the renditions into out/.
        # Originals go to state/done/drop/, or with the reason to state/failed/drop/. Paths are relative to this file.

        state: state
        inboxes:
          - path: drop
            outbox: out
            pipeline: pipeline.yaml
            # originals: keep                 # leave them in drop/ instead
            # settle: 5s                      # how long a file must be unchanged before it is taken

        """
}
