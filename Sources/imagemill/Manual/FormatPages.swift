// The manual's pages of the files: pipelines and mill files.
import Engine
import Pipeline
import Stages

enum FormatPages {
    /// File names below `docs/man`, and what they hold.
    static var pages: [(name: String, text: String)] {
        [("imagemill-pipeline.5", pipeline), ("imagemill-mill.5", mill)]
    }

    private static var pipeline: String {
        var page = ManualPage(
            "imagemill-pipeline", section: 5, version: imagemillVersion,
            summary: "describes what Imagemill does with each picture")
        page.heading("Description")
        page.paragraph(
            "A pipeline is a YAML file. Shared stages are done once; each rendition has further stages, and says how the result is saved. "
                + "Lengths are points: one pixel at scale 1, two at scale 2; or percentages of the incoming picture.")
        page.verbatim(example)
        page.heading("Pipeline")
        list(PipelineFile.descriptions.file, in: &page)
        page.heading("Renditions")
        list(PipelineFile.descriptions.rendition, in: &page)
        page.heading("Conditions")
        page.paragraph(
            "They say for which sources a rendition or a stage is used (when), and what every source must be (require). All that is named must hold."
        )
        list(PipelineFile.descriptions.condition, in: &page)
        page.heading("Stages")
        for stage in StageCatalogue.all.stages.map(StagePage.init) {
            page.subheading(stage.name)
            page.paragraph(stage.summary)
            list(stage.parameters, in: &page)
            for part in stage.parts {
                page.paragraph("A \(part.name) has:")
                list(part.parameters, in: &page)
            }
        }
        page.heading("Saving")
        for format in SaveFormat.allCases {
            page.subheading(format.rawValue)
            list(SaveSettings.descriptions(of: format), in: &page)
        }
        page.heading("See also")
        page.paragraph("imagemill-run(1), imagemill-check(1), imagemill-plan(1), imagemill-stages(1)")
        return page.text
    }

    private static let example = """
        stages:
          - inset: { all: 2%, background: white }
        renditions:
          gallery:
            scale: [1, 2]
            stages:
              - frame: { width: 600, height: 600, mode: aspect-fit, background: white }
            save: { format: jpeg, quality: 82 }
            file: "{stem}-gallery{scale}.{ext}"
        """.split(separator: "\n").map(String.init)

    private static var mill: String {
        let (file, inbox, cache) = MillFile.descriptions
        var page = ManualPage(
            "imagemill-mill", section: 5, version: imagemillVersion, summary: "describes Imagemill's drop folder")
        page.heading("Description")
        page.paragraph(
            "The file that imagemill watch reads, in YAML. Paths are relative to the file. imagemill check mill.yaml checks it."
        )
        page.verbatim(["inboxes:", "  - path: drop", "    outbox: out", "    pipeline: web.yaml"])
        page.heading("Settings")
        list(file, in: &page)
        page.heading("An inbox")
        list(inbox, in: &page)
        page.heading("The cache")
        list(cache, in: &page)
        page.heading("See also")
        page.paragraph("imagemill-watch(1), imagemill-status(1), imagemill-pipeline(5)")
        return page.text
    }

    private static func list(_ parameters: [ParameterDescription], in page: inout ManualPage) {
        for parameter in parameters {
            let fallback =
                parameter.isRequired ? "required" : parameter.defaultText.map { "default \($0)" } ?? "optional"
            page.entry(parameter.key, [parameter.text, "\(parameter.expectation); \(fallback)"])
        }
    }
}
