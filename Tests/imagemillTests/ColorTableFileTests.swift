// Files of color tables from outside: those that a worker reads, those that are refused, and what a change of one does.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct ColorTableFileTests {
    private let runner: CommandRunner
    private static let negative = "LUT_1D_SIZE 2\n1 1 1\n0 0 0\n"

    init() async throws {
        runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              a:
                stages:
                  - lut: { file: looks/film.cube }
                save: { format: png }

            """, to: "p.yaml")
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 30, height: 20, bands: 3) { x, y in [UInt8(x), UInt8(y), 255] }
        }
    }

    @Test func `a worker gets the table, whatever folder it runs in`() async throws {
        try runner.folder.write(Self.negative, to: "looks/film.cube")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "2")
        #expect(result.exit == 0, "\(result.errors)")
        let grid = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0) }
        #expect(grid[7, 5] == [248, 250, 0])
    }

    @Test func `a table for what is drawn on the picture reaches the worker too`() async throws {
        try runner.folder.write(Self.negative, to: "looks/film.cube")
        try await runner.save("black.png", as: "pngsave_target") {
            try TestPicture.solid([0, 0, 0], width: 30, height: 20)
        }
        let stages = "[ { overlay: { image: black.png, stages: [ { lut: { file: looks/film.cube } } ] } } ]"
        let result = try await runner.render(stages: stages, save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let grid = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0) }
        #expect(grid[7, 5] == [255, 255, 255])
    }

    @Test func `another content of the table does everything again, and the cache knows it`() async throws {
        try runner.folder.write(Self.negative, to: "looks/film.cube")
        for out in ["out", "two"] {
            #expect(try await runner.run("run", "p.yaml", "in", "-o", out, "--cache", "cache").exit == 0)
        }
        #expect(try runner.report("two/.imagemill/report.json").sources[0].renditions[0].cached)
        try runner.folder.write("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n", to: "looks/film.cube")
        let why = try await runner.run("run", "p.yaml", "in", "-o", "out", "--why", "in/a.png")
        #expect(why.output == "in/a.png: would be done:\n  the asset 'looks/film.cube' has changed\n", "\(why)")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "three", "--cache", "cache").exit == 0)
        #expect(try !runner.report("three/.imagemill/report.json").sources[0].renditions[0].cached)
    }

    private static let bad: [(String, String)] = [
        (
            "printf 'LUT_3D_SIZE 100000\\n' > looks/film.cube",
            "line 1: expected a size from 2 to 129, found 'LUT_3D_SIZE 100000'"
        ),
        (
            "printf 'LUT_1D_SIZE 2\\n0 nan 0\\n1 1 1\\n' > looks/film.cube",
            "line 2: expected three numbers, found '0 nan 0'"
        ),
        ("truncate -s 1G looks/film.cube", "a .cube file has at most 83886080 bytes, and this one has 1073741824"),
        ("truncate -s 80M looks/film.cube", "line 1: it is longer than 1000 bytes"),
        ("yes '' | head -c 80M > looks/film.cube", "it has more than 2200000 lines"),
        (
            "(echo LUT_3D_SIZE 17; yes 0 0 0) | head -c 80M > looks/film.cube",
            "line 4915: more than the 4913 lines of three numbers that its size says"
        ),
        ("mkfifo looks/film.cube", "expected a file, found a folder, a link, a pipe, a socket or a device"),
        ("mkdir looks/film.cube", "expected a file, found a folder, a link, a pipe, a socket or a device"),
        ("ln -s /dev/zero looks/film.cube", "expected a file, found a folder, a link, a pipe, a socket or a device"),
        ("cp in/a.png looks/film.cube", "line 1: expected a keyword of a .cube file or three numbers, found '?PNG'"),
        ("true", "cannot find the file: No such file or directory"),
    ]

    @Test(arguments: bad)
    private func `a bad table is a mistake of the pipeline, with its place`(
        command: String, message: String
    ) async throws {
        #expect(try await runner.shell("mkdir looks && { \(command); }").exit == 0)
        for subcommand in [["check", "p.yaml"], ["run", "p.yaml", "in", "-o", "out"]] {
            let result = try await runner.run(subcommand)
            #expect(result.exit == 78)
            let words = "p.yaml:4:22: error: the asset 'looks/film.cube' cannot be used: \(message)\n"
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `a picture is no table, and a table is no picture, also if both are asked for`() async throws {
        try runner.folder.write(Self.negative, to: "looks/film.cube")
        let stages = "[ { lut: { file: looks/film.cube } }, { overlay: { image: looks/film.cube } } ]"
        let result = try await runner.render(stages: stages, save: "{ format: png }")
        #expect(
            result.exit == 78 && result.errors.contains("the asset 'looks/film.cube' cannot be used"),
            "\(result.errors)")
    }
}
