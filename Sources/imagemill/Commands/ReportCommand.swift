import ArgumentParser
import Engine
import Pipeline
import System

/// `imagemill report`: a report or a journal as a page for a browser.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Makes a page for a browser of a run's report or a drop folder's journal.",
        discussion: """
            Example: imagemill report out/.imagemill/report.json -o report.html
                     imagemill report /var/lib/imagemill/journal.jsonl --mill /etc/imagemill/mill.yaml -o report.html

            The page is one file that loads nothing from elsewhere: a summary, failures and warnings, sizes and times, a table of all sources, \
            and each picture before and after. The pictures are not in it; it finds them by their paths from the page.
            """)

    @Argument(
        help: "A report of `run`, what --json-lines printed, a report of one source, or a journal.", completion: .file()
    )
    var report: String

    @Option(
        name: [.customShort("o"), .long], help: "The page, such as report.html; - for standard output.",
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "The folder of the renditions. Default: the one that the report is in, if that is OUT/.imagemill/report.json.",
            valueName: "dir"),
        completion: .directory)
    var renditions: String?

    @Option(
        help: ArgumentHelp(
            "For a journal: the mill file of its drop folder. It says where the renditions and the originals of each inbox are.",
            valueName: "file"),
        completion: .file())
    var mill: String?

    func validate() throws {
        if renditions != nil && mill != nil {
            throw ValidationError("the mill file says where renditions are; leave one of --mill and --renditions out")
        }
    }

    func run() throws {
        let (file, page) = (RawArguments.paths([report])[0], RawArguments.paths([output])[0])
        if let same = FileSystem.absolute(file), FileSystem.absolute(page) == same {
            printError(
                "imagemill: the page would be written over the report '\(file.printable)'; choose another file (-o)")
            throw ExitStatus.usage
        }
        try ReplacedFile.page.refuseOthers(at: page, option: "-o")
        do {
            let unreadable = try ReportPageFile(page, try pictures(of: file)).write(reportIn: file)
            if output != "-" { printError("wrote \(page.printable)") }
            if unreadable > 0 {
                printError("note: \(counted(unreadable, "entry", "entries")) of '\(file.printable)' cannot be read")
            }
        } catch let error as ReportDocument.NoReport {
            let found = error.found.map { ", found \($0)" } ?? ""
            printError(
                "imagemill: '\(file.printable)' is no report: expected imagemill.batch/1 or lines of imagemill.report/1\(found)"
            )
            throw ExitStatus.configuration
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, reading: report, ending: "")
        }
    }

    private func pictures(of file: BytePath) throws -> PicturePlaces {
        if let mill {
            do {
                return .init(try WatchCommand.load(mill))
            } catch {
                throw ExitStatus.explaining(error, reading: mill, ending: "")
            }
        }
        let folder = renditions.map { RawArguments.paths([$0])[0] } ?? Self.outbox(of: file)
        return folder.map(PicturePlaces.outbox) ?? .unknown
    }

    /// The output folder that a report is in; nil if it is somewhere else.
    private static func outbox(of file: BytePath) -> BytePath? {
        guard let absolute = FileSystem.absolute(file), absolute.directory.lastComponent == BytePath(".imagemill")
        else { return nil }
        return absolute.directory.directory
    }
}
