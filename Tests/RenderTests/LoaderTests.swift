// The profile of a picture stays whole for as long as any copy of the picture.
import Glibc
import Pipeline
import Stages
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite struct LoaderTests {
    @Test
    func `a copy in memory keeps the profile of a HEIF that was opened for it`() async throws {
        let folder = try TemporaryFolder()
        let (before, after) = try await inVipsTurn {
            let wide = try TestPicture.solid([200, 40, 40], width: 32, height: 32).iccTransform(to: .p3, input: .srgb)
            let path = try TestPicture.save(
                wide, as: "heifsave_target", [("compression", "av1"), ("effort", 0)], to: folder.path("p3.avif"))
            let copy = try Loader.open(
                ReceivedFile(OpenFile(owning: open(path, O_RDONLY | O_CLOEXEC))), format: .avif
            ).picture.inMemory()
            return (wide.blob("icc-profile-data"), copy.image.blob("icc-profile-data"))
        }
        #expect(before != nil && before == after)
    }
}
