package import Pipeline
import Vips

/// Draws the members of a set into a grid, each with its name below.
package struct ContactSheet: SetStage {
    package static let name = "contact-sheet"
    package static let summary = "Draws the pictures of a set into a grid, each with its name below."
    package static let example = """
        - contact-sheet: { columns: 4, cell: { width: 200, height: 150 }, spacing: 16, label: name }
        """

    let columns: Int
    let cell: CellSize
    let spacing: Distance
    let background: OpaqueColor
    let label: SheetLabel

    package init(_ p: inout Parameters) {
        columns = p.optional("columns", 4, in: 1...1000, "Pictures in a row.")
        cell = p.optional("cell", CellSize(), "The box that each picture fits into; a small one is not enlarged.")
        spacing = p.optional("spacing", Distance(.points(16)), "Room between the pictures and around them.")
        background = p.optional("background", OpaqueColor(.white), "What is seen between the pictures.")
        label = SheetLabel(&p)
    }

    package var sizesInPoints: Bool { true }
    package var drawsText: Bool { label.content != .none }

    package var memberStages: [any StageDeclaration] { [Resize(fitting: cell.width, cell.height)] }

    /// A picture on the sheet.
    struct Place: Sendable {
        /// Its place in its cell.
        let offset: PixelOffset
        /// As much of its name as may fit; empty for none.
        let label: String
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let columns: Int
        /// A picture's box, without the room around it.
        let cell: PixelSize
        let spacing: Int
        let labelHeight: Int
        let places: [Place]
        let background: Ink
        let ink: Ink

        package var note: String { "\(places.count) pictures, \(columns) in a row" }
        /// All cells, and the sheet.
        package var intermediates: [PictureInfo] { [output, output] }
    }

    package func plan(_ members: [SetMember], in context: PlanContext) throws(PlanFailure) -> Plan {
        let common = members.common
        let cell = PixelSize(
            try cell.width.pixels(of: 0, scale: context.scale, "width", in: Self.name),
            try cell.height.pixels(of: 0, scale: context.scale, "height", in: Self.name))
        let columns = min(columns, members.count)
        let rows = (members.count + columns - 1) / columns
        let spacing = try spacing.pixels(of: cell.width, scale: context.scale, "spacing", in: Self.name)
        let labelHeight = label.height(scale: context.scale)
        let width = columns * (cell.width + spacing) + spacing
        let (height, overflow) = rows.multipliedReportingOverflow(by: cell.height + labelHeight + spacing)
        var output = common.resized(to: PixelSize(width, overflow ? maximumCoordinate : height + spacing))
        output.hasAlpha = false
        let background = try output.ink(background.color, for: Self.name)
        let ink = try output.ink(label.color, for: Self.name)
        output.pixelsPerPoint = context.scale
        output.certainty = .exact
        let places = members.map { member in
            let room = PixelSize(
                max(0, cell.width - member.geometry.size.width), max(0, cell.height - member.geometry.size.height))
            return Place(offset: PixelOffset(room.width / 2, room.height / 2), label: label.text(for: member.name))
        }
        return Plan(
            output: output, columns: columns, cell: cell, spacing: spacing, labelHeight: labelHeight, places: places,
            background: background, ink: ink)
    }

    package func join(_ members: Frames, following plan: Plan, in context: RenderContext) throws -> Frames {
        let cells = try zip(members.pictures, plan.places).map { try cell(of: $0, at: $1, plan) }
        guard let first = cells.first else { throw MismatchedPlan(stage: Self.name) }
        let colour = try first.componentsWithAlpha(of: plan.background)
        // Each cell has its room on the right and below; the sheet adds that on the left and above.
        let grid = first.with(try Image.arrayjoin(cells.map(\.image), across: plan.columns, background: colour))
        let sheet = try grid.onCanvas(
            plan.output.size, at: PixelOffset(plan.spacing, plan.spacing), background: plan.background)
        return Frames([try sheet.inMemory()])
    }

    /// A picture with the room around it and its label.
    private func cell(of member: Picture, at place: Place, _ plan: Plan) throws -> Picture {
        let picture = try member.unified(to: plan.output.pixels).flattened(onto: plan.background)
        let size = PixelSize(plan.cell.width + plan.spacing, plan.cell.height + plan.labelHeight + plan.spacing)
        let box = try picture.onCanvas(size, at: place.offset, background: plan.background)
        guard plan.labelHeight > 0,
            let text = try label.draw(
                place.label, within: PixelSize(plan.cell.width, plan.labelHeight), on: box, in: plan.ink,
                over: plan.background)
        else { return try box.inMemory() }
        let left = (plan.cell.width - text.picture.width) / 2
        return try box.inserting(text.picture, at: PixelOffset(left, plan.cell.height + text.top)).inMemory()
    }
}

/// `cell: { width: 200, height: 150 }`.
struct CellSize: ParameterMapping {
    let width: PositiveLength
    let height: PositiveLength

    init() { (width, height) = (PositiveLength(.points(200)), PositiveLength(.points(200))) }

    init(_ p: inout Parameters) {
        width = p.optional("width", PositiveLength(.points(200)), "Width of the box, in points.")
        height = p.optional("height", PositiveLength(.points(200)), "Height of the box, in points.")
        for (key, extent) in [("width", width), ("height", height)] where !extent.isPoints {
            p.problem(at: key, "'\(key)' expects points such as 200: there is nothing that a percentage could be of")
        }
    }

    static var expectation: String { "a size such as { width: 200, height: 150 }" }
    static var owner: String { "'cell'" }
    static var placeholder: CellSize { CellSize() }
    var written: String { "{ width: \(width.written), height: \(height.written) }" }
}
