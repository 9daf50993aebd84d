// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target: strict imports and existentials, and no hidden hops between executors.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A product of a package this one depends on.
func product(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package)
}

/// A library target of this package, with the settings that all of them share.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The test target of the library target of the same name.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests",
    dependencies: [.byName(name: name), "TestSupport"] + dependencies,
    swiftSettings: settings
  )
}

/// What several test targets share; no other target depends on it.
func testSupport(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Tests/\(name)",
    swiftSettings: settings
  )
}

/// What programs use that are written for the original, and what tests need to run them.
let clientDependencies: [Target.Dependency] = [
  "Firebase", "FirebaseAuth", "FirebaseCore", "FirebaseDatabase", "RealtimeServer", "TestSupport",
  product("Logging", "swift-log"),
]

let package = Package(
  name: "hearth",
  products: [
    .executable(name: "hearth", targets: ["hearth"]),
    .library(name: "Firebase", targets: ["Firebase"]),
    .library(name: "FirebaseAuth", targets: ["FirebaseAuth"]),
    .library(name: "FirebaseCore", targets: ["FirebaseCore"]),
    .library(name: "FirebaseDatabase", targets: ["FirebaseDatabase"]),
    .library(name: "RealtimeAuth", targets: ["RealtimeAuth"]),
    .library(name: "RealtimeDatabase", targets: ["RealtimeDatabase"]),
    .library(name: "RealtimeServer", targets: ["RealtimeServer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  targets: [
    // Pure: values in, values out. No clock, no randomness, no Foundation, no NIO.
    library("RealtimeTree"),
    library("RealtimeProtocol", ["RealtimeTree"]),
    library("RealtimeSync", ["RealtimeTree", "RealtimeProtocol"]),
    library("RealtimeHub", ["RealtimeTree", "RealtimeProtocol", "SecurityRules"]),
    library("SecurityRules", ["RealtimeTree"]),
    library("TerminalUI"),

    // Shells: the same engines with sockets, clocks and callbacks around them.
    library(
      "RealtimeTransport",
      [
        "RealtimeProtocol",
        product("NIOCore", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
        product("NIOSSL", "swift-nio-ssl"),
        product("NIOWebSocket", "swift-nio"),
      ]
    ),
    library(
      "RealtimeDatabase",
      [
        "OfflineStorage", "RealtimeTree", "RealtimeProtocol", "RealtimeSync", "RealtimeTransport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    library(
      "FirebaseCore",
      ["RealtimeDatabase", product("NIOConcurrencyHelpers", "swift-nio")]
    ),
    library("FirebaseDatabase", ["FirebaseCore", "RealtimeDatabase"]),
    library(
      "RealtimeAuth",
      [
        "DurableFiles", "RealtimeDatabase", "RealtimeTransport", "RealtimeTree",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
      ]
    ),
    library("FirebaseAuth", ["FirebaseCore", "RealtimeAuth"]),
    library("Firebase", ["FirebaseAuth", "FirebaseCore", "FirebaseDatabase"]),
    library(
      "RealtimeIdentity",
      [
        "RealtimeHub", "RealtimeProtocol", "RealtimeTree",
        product("Crypto", "swift-crypto"),
        product("CryptoExtras", "swift-crypto"),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    library(
      "RealtimeServer",
      [
        "RealtimeHub", "RealtimeIdentity", "RealtimeProtocol", "RealtimeTransport",
        "RealtimeTree", "SecurityRules",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    library("BlogModel", ["RealtimeDatabase", "RealtimeTree"]),
    library("BlogTUI", ["BlogModel", "TerminalUI"]),

    // Edges: each touches one thing outside.
    library("DurableFiles"),
    library("BlogConfiguration", ["BlogTUI", "TerminalUI", product("TOMLKit", "TOMLKit")]),
    library(
      "OfflineStorage",
      [
        "DurableFiles", "RealtimeProtocol", "RealtimeSync", "RealtimeTree",
        product("GRDB", "GRDB.swift"),
      ]
    ),
    library(
      "SQLiteStorage",
      [
        "DurableFiles", "RealtimeHub", "RealtimeIdentity", "RealtimeProtocol", "RealtimeTree",
        product("GRDB", "GRDB.swift"),
        product("GRDBSQLite", "GRDB.swift"),
      ]
    ),
    library(
      "BlogChecker",
      [
        "DurableFiles", "RealtimeHub", "RealtimeProtocol", "RealtimeTransport", "RealtimeTree",
        "SQLiteStorage", "SecurityRules",
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    library(
      "BlogSwarm",
      [
        "BlogChecker", "BlogModel", "RealtimeAuth", "RealtimeDatabase", "RealtimeProtocol",
        "RealtimeTransport", "RealtimeTree",
        product("Histogram", "hdrhistogram-swift"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    .systemLibrary(name: "CNcurses"),
    library("NcursesTerminal", ["CNcurses", "TerminalUI"]),
    .executableTarget(
      name: "hearth",
      dependencies: [
        "BlogChecker", "BlogConfiguration", "BlogModel", "BlogSwarm", "BlogTUI",
        "DurableFiles", "NcursesTerminal", "RealtimeAuth", "RealtimeDatabase", "RealtimeHub",
        "RealtimeIdentity", "RealtimeServer", "RealtimeTransport", "RealtimeTree",
        "SQLiteStorage", "SecurityRules", "TerminalUI",
        product("ArgumentParser", "swift-argument-parser"),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      swiftSettings: settings
    ),

    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "BlogModel", "BlogTUI", "RealtimeHub", "RealtimeProtocol", "RealtimeSync",
        "RealtimeTransport", "RealtimeTree", "SQLiteStorage", "SecurityRules", "TerminalUI",
        product("ArgumentParser", "swift-argument-parser"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      swiftSettings: settings
    ),

    testSupport("TestSupport"),
    testSupport("OfflineTestSupport", ["RealtimeProtocol", "RealtimeSync", "RealtimeTree"]),
    testSupport(
      "TransportTestSupport",
      ["RealtimeTransport", product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio")]
    ),
    testSupport("TLSTestSupport", [product("Crypto", "swift-crypto")]),
    testSupport("FaultyStorage", [product("GRDBSQLite", "GRDB.swift")]),
    // A program that the tests of `hearth` start and kill; it is no product.
    .executableTarget(
      name: "FaultyServer",
      dependencies: [
        "FaultyStorage", "RealtimeHub", "RealtimeProtocol", "RealtimeServer", "RealtimeTree",
        "SQLiteStorage",
        product("ArgumentParser", "swift-argument-parser"),
      ],
      path: "Tests/FaultyServer",
      swiftSettings: settings
    ),
    tests("RealtimeTree"),
    tests("RealtimeProtocol", ["RealtimeTree"]),
    tests("RealtimeSync", ["OfflineTestSupport", "RealtimeProtocol", "RealtimeTree"]),
    tests("RealtimeHub", ["RealtimeProtocol", "RealtimeTree", "SecurityRules"]),
    tests("SecurityRules", ["RealtimeTree"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "RealtimeHub", "RealtimeProtocol", "RealtimeSync", "RealtimeTree", "TestSupport",
      ],
      swiftSettings: settings
    ),
    tests("TerminalUI"),
    tests(
      "RealtimeTransport",
      [
        "RealtimeProtocol", "TransportTestSupport",
        product("NIOCore", "swift-nio"),
        product("NIOEmbedded", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
        product("NIOWebSocket", "swift-nio"),
      ]
    ),
    tests(
      "RealtimeDatabase",
      [
        "FirebaseDatabase", "RealtimeProtocol", "RealtimeServer", "RealtimeTransport",
        "RealtimeTree",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    tests(
      "RealtimeAuth",
      [
        "FirebaseAuth", "RealtimeDatabase", "RealtimeHub", "RealtimeProtocol", "RealtimeServer",
        "RealtimeSync", "RealtimeTransport", "RealtimeTree",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    tests(
      "RealtimeIdentity",
      ["RealtimeHub", "RealtimeProtocol", "RealtimeTree", product("Logging", "swift-log")]
    ),
    tests(
      "RealtimeServer",
      [
        "RealtimeHub", "RealtimeIdentity", "RealtimeProtocol", "RealtimeTransport",
        "RealtimeTree", "TransportTestSupport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    // Programs that use the library: without the settings of this package, in two modes of Swift.
    .testTarget(
      name: "Swift5ClientTests",
      dependencies: clientDependencies,
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    .testTarget(
      name: "Swift6ClientTests",
      dependencies: clientDependencies,
      swiftSettings: [.swiftLanguageMode(.v6)]
    ),
    tests("DurableFiles"),
    tests(
      "OfflineStorage",
      [
        "FaultyStorage", "OfflineTestSupport", "RealtimeProtocol", "RealtimeSync", "RealtimeTree",
        product("GRDB", "GRDB.swift"),
      ]
    ),
    .testTarget(
      name: "NetworkTests",
      dependencies: [
        "RealtimeDatabase", "RealtimeProtocol", "RealtimeServer", "RealtimeTransport",
        "RealtimeTree", "TLSTestSupport", "TestSupport", "TransportTestSupport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "TranscriptTests",
      dependencies: [
        "RealtimeHub", "RealtimeServer", "RealtimeTree", "TestSupport",
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "AdminSDKTests",
      dependencies: ["RealtimeServer", "TestSupport", product("NIOPosix", "swift-nio")],
      exclude: ["admin_sdk.py"],
      swiftSettings: settings
    ),
    tests(
      "SQLiteStorage",
      [
        "FaultyStorage", "RealtimeHub", "RealtimeIdentity", "RealtimeProtocol", "RealtimeTree",
        product("GRDB", "GRDB.swift"),
      ]
    ),
    tests(
      "BlogModel",
      [
        "RealtimeDatabase", "RealtimeServer",
        product("NIOConcurrencyHelpers", "swift-nio"),
      ]
    ),
    .testTarget(
      name: "BlogTUITests",
      dependencies: ["BlogModel", "BlogTUI", "TerminalUI", "TestSupport"],
      exclude: ["Goldens"],
      swiftSettings: settings
    ),
    tests("BlogConfiguration", ["BlogTUI", "TerminalUI"]),
    tests(
      "BlogChecker",
      [
        "RealtimeHub", "RealtimeProtocol", "RealtimeServer", "RealtimeTransport", "RealtimeTree",
        "SQLiteStorage", "SecurityRules",
        product("NIOPosix", "swift-nio"),
      ]
    ),
    tests(
      "BlogSwarm",
      [
        "BlogChecker", "RealtimeDatabase", "RealtimeTree",
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    .testTarget(
      name: "NcursesTerminalTests",
      dependencies: ["CNcurses", "NcursesTerminal", "TerminalUI", "TestSupport"],
      exclude: ["Goldens"],
      swiftSettings: settings
    ),
    tests("hearth", ["FaultyServer", "FaultyStorage", "RealtimeTree", "TLSTestSupport"]),
  ]
)

/// What the checks of `FuzzTests` look at.
let fuzzed: [Target.Dependency] = [
  "RealtimeHub", "RealtimeIdentity", "RealtimeProtocol", "RealtimeServer", "RealtimeTransport",
  "RealtimeTree", "SecurityRules", "TerminalUI",
  product("NIOCore", "swift-nio"),
  product("NIOEmbedded", "swift-nio"),
  product("NIOHTTP1", "swift-nio"),
  product("NIOWebSocket", "swift-nio"),
]
if Context.environment["HEARTH_FUZZ"] == nil {
  package.targets.append(
    .testTarget(
      name: "FuzzTests",
      dependencies: fuzzed + ["TestSupport"],
      exclude: ["Driver"],
      swiftSettings: settings
    )
  )
} else {
  // With libFuzzer in it, the same checks are a program: assets/scripts/fuzz builds it.
  package.targets.append(
    .executableTarget(
      name: "fuzz",
      dependencies: fuzzed,
      path: "Tests/FuzzTests",
      exclude: ["Replay"],
      swiftSettings: settings,
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    )
  )
  for target in package.targets where target.type != .system {
    target.swiftSettings = settings + [.unsafeFlags(["-sanitize=fuzzer"])]
  }
}
