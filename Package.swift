// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Who may import whom is written down in docs/architecture.md; ImportTableTests holds the sources to it.
let package = Package(
    name: "imagemill",
    products: [
        .executable(name: "imagemill", targets: ["imagemill"])
    ],
    // Exact, so that the program builds the same tomorrow.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPango", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .target(name: "CEmptyICU"),
        .target(name: "CJPEG"),
        .target(name: "CLinux", linkerSettings: [.linkedLibrary("seccomp")]),
        .target(name: "CInstructions"),
        .target(name: "CPNGFilter", dependencies: ["CInstructions"]),
        .target(name: "CPostgres"),
        .target(name: "CRaw"),
        .target(name: "CResample", dependencies: ["CInstructions"]),
        .target(
            name: "CWebP", dependencies: ["CInstructions", "CResample"],
            linkerSettings: [.linkedLibrary("webp"), .linkedLibrary("webpdemux")]),
        .target(name: "Kernels", swiftSettings: settings),
        .target(name: "Vips", dependencies: ["CLinux", "CResample", "CVips", "Kernels"], swiftSettings: settings),
        .target(
            name: "Pipeline", dependencies: ["Kernels", .product(name: "Yams", package: "Yams")],
            swiftSettings: settings),
        .target(name: "Typesetting", dependencies: ["CPango"], swiftSettings: settings),
        .target(name: "Stages", dependencies: ["Kernels", "Pipeline", "Typesetting", "Vips"], swiftSettings: settings),
        .target(
            name: "System", dependencies: ["CCrypto", "CDeflate", "CLinux", "Pipeline"], swiftSettings: settings),
        .target(name: "Postgres", dependencies: ["CPostgres"], swiftSettings: settings),
        .target(name: "Messages", dependencies: ["CLinux", "Pipeline", "System"], swiftSettings: settings),
        .target(
            name: "Render",
            dependencies: [
                "CDeflate", "CJPEG", "CLinux", "CPNGFilter", "CRaw", "CWebP", "Kernels", "Messages", "Pipeline",
                "Stages",
                "System", "Typesetting", "Vips",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Engine",
            dependencies: [
                "CLinux", "Messages", "Pipeline", "Postgres", "Stages", "System",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "imagemill",
            dependencies: [
                "CEmptyICU", "Engine", "Pipeline", "Render", "Stages", "System",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            // Parts of the program itself: it needs no file when it runs.
            resources: [
                "Daemon/Dashboard/dashboard.html", "Daemon/Dashboard/dashboard.css", "Daemon/Dashboard/words.js",
                "Daemon/Dashboard/failures.js", "Daemon/Dashboard/inboxes.js", "Daemon/Dashboard/activity.js",
                "Daemon/Dashboard/operator.js",
                "Daemon/Dashboard/feed.js", "Report/report.html", "Report/report.css", "Report/report.js",
            ].map { .embedInCode($0) },
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport", dependencies: ["System", "Vips"], path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "VipsTests", dependencies: ["CResample", "CVips", "Kernels", "Vips", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineTests", dependencies: ["Kernels", "Pipeline", "Stages", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "StagesTests", dependencies: ["Kernels", "Stages", "TestSupport", "Typesetting"],
            swiftSettings: settings),
        .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RenderTests",
            dependencies: ["CJPEG", "Messages", "Pipeline", "Render", "Stages", "System", "TestSupport", "Vips"],
            swiftSettings: settings),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Engine", "Messages", "Pipeline", "Render", "Stages", "System", "TestSupport", "Vips",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "imagemillTests",
            dependencies: [
                "imagemill", "Engine", "Messages", "Pipeline", "Render", "Stages", "System", "TestSupport", "Vips",
            ],
            swiftSettings: settings),
    ]
)

// Needs the compiler's fuzzer, so `make fuzz` alone asks for it.
if Context.environment["IMAGEMILL_FUZZER"] != nil {
    let parsed = settings + [.unsafeFlags(["-parse-as-library"])]
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CDeflate", "CLinux", "Engine", "Messages", "Pipeline", "Render", "Stages", "System", "Vips",
            ],
            path: "Tests/Fuzz", exclude: ["run"],
            swiftSettings: parsed))
}
