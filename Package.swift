// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules; a warning is an error.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

func system(_ name: String, package: String?, debian: String) -> Target {
    .systemLibrary(name: name, pkgConfig: package, providers: [.apt([debian])])
}

func swift(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["HaulTestSupport"], swiftSettings: strict)
}

let package = Package(
    name: "haul",
    products: [.executable(name: "haul", targets: ["haul"])],
    targets: [
        system("CCurl", package: "libcurl", debian: "libcurl4-openssl-dev"),
        system("CCrypto", package: "libcrypto", debian: "libssl-dev"),
        system("CZlib", package: "zlib", debian: "zlib1g-dev"),
        system("CBrotli", package: "libbrotlidec", debian: "libbrotli-dev"),
        system("CZstd", package: "libzstd", debian: "libzstd-dev"),
        // Their .pc files hold flags that the package manager refuses or does not need.
        system("CUTF8Proc", package: nil, debian: "libutf8proc-dev"),
        system("CUchardet", package: nil, debian: "libuchardet-dev"),
        .target(name: "CHaulShims", cSettings: [.define("_GNU_SOURCE")]),

        swift("HaulCore", ["CUTF8Proc", "CUchardet"]),
        swift("HaulPlatform", ["HaulCore", "CHaulShims"]),
        swift(
            "HaulTransfer",
            ["HaulCore", "HaulPlatform", "CHaulShims", "CCurl", "CZlib", "CBrotli", "CZstd"]),
        swift("HaulDisk", ["HaulCore", "HaulPlatform", "CCrypto"]),
        swift("HaulEngine", ["HaulCore", "HaulPlatform", "HaulTransfer", "HaulDisk"]),
        swift("HaulCommand", ["HaulCore", "HaulPlatform", "HaulDisk", "HaulEngine"]),
        .executableTarget(name: "haul", dependencies: ["HaulCommand"], swiftSettings: strict),

        swift("HaulTestSupport", ["HaulCore", "HaulPlatform"], path: "Tests/HaulTestSupport"),
        tests("HaulCoreTests", ["HaulCore"]),
        tests("HaulPlatformTests", ["HaulPlatform"]),
        tests("HaulDiskTests", ["HaulCore", "HaulPlatform", "HaulDisk"]),
        tests("HaulTransferTests", ["HaulCore", "HaulPlatform", "HaulTransfer", "CCurl", "CZlib", "CZstd"]),
        tests("HaulEngineTests", ["HaulCore", "HaulPlatform", "HaulTransfer", "HaulDisk", "HaulEngine"]),
        tests("HaulCommandTests", ["HaulCore", "HaulPlatform", "HaulDisk", "HaulEngine", "HaulCommand"]),
        tests("EndToEndTests", ["HaulCore", "HaulPlatform"]),
    ],
    swiftLanguageModes: [.v6]
)
