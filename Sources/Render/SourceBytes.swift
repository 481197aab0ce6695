// The bytes of a source, of which many ask a few. The first ones, which are all of a small file, are read once.
import Pipeline
import System
import Vips

struct SourceBytes {
    let file: OpenFile
    let count: Int
    private let beginning: [UInt8]

    private static let mostBytes = 65_536

    init(_ file: OpenFile) throws(Failure) {
        self.file = file
        do throws(SystemError) {
            count = try file.status().bytes
            beginning = try file.bytes(at: 0, count: min(count, Self.mostBytes))
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// Reads the structure of a source by code that knows no files. A read that fails is not taken for damage: the
    /// supervisor checks the disk, and the source is tried again later.
    func structure<Found>(_ find: (ByteSource) -> Found) throws(Failure) -> Found {
        do throws(SystemError) {
            return try file.structure(of: count, knowing: beginning, find)
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// For a decoder of libvips.
    func source() throws -> Source {
        beginning.count == count ? try Source(bytes: beginning) : try Source(descriptor: file.descriptor)
    }

    private static func unreadable(_ error: SystemError) -> Failure {
        Failure(.changedWhileRead, stage: "decode", "the picture cannot be read any more", detail: error.description)
    }
}
