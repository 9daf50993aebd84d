// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target: strict imports and existentials, and no hidden hops between executors.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .define("OfflineStorage", .when(traits: ["Full"])),
  .define("TLS", .when(traits: ["Full"])),
]

/// A product of a package this one depends on.
func product(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package)
}

/// A library target in `Sources/FOLDER`, with the settings that all targets share.
func library(
  _ name: String,
  in folder: String,
  _ dependencies: [Target.Dependency] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Sources/\(folder)/\(name)",
    swiftSettings: settings,
    plugins: plugins
  )
}

/// A program in `Sources/FOLDER`.
func program(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: "Sources/\(folder)/\(name)",
    swiftSettings: settings,
    // Nothing else links to a program, which starts sooner without a table of all its symbols.
    linkerSettings: [
      .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))
    ]
  )
}

/// A test target in `Tests/NAME`.
func suite(
  _ name: String,
  _ dependencies: [Target.Dependency],
  exclude: [String] = []
) -> Target {
  .testTarget(
    name: name,
    dependencies: ["TestSupport"] + dependencies,
    exclude: exclude,
    swiftSettings: settings
  )
}

/// The test target of the target of the same name.
func tests(
  _ name: String,
  _ dependencies: [Target.Dependency] = [],
  exclude: [String] = []
) -> Target {
  suite("\(name)Tests", [.byName(name: name)] + dependencies, exclude: exclude)
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

/// A program of `assets/examples`, which the tests of `hearth` run; it is no product.
func example(_ name: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["RealtimeDatabase"],
    path: "assets/examples/Sources/\(name)"
  )
}

/// What programs use that are written for the original, and what tests need to run them.
let clientDependencies: [Target.Dependency] = [
  "Firebase", "FirebaseAuth", "FirebaseAuthInternal", "FirebaseCore", "FirebaseDatabase",
  "FirebaseDatabaseInternal", "FirebaseDatabaseSwift", "FirebaseSharedSwift", "RealtimeServer",
  "TestSupport",
  product("Logging", "swift-log"),
]

let package = Package(
  name: "hearth",
  products: [
    .executable(name: "hearth", targets: ["hearth"]),
    .executable(name: "hearth-lab", targets: ["hearth-lab"]),
    .library(name: "Firebase", targets: ["Firebase"]),
    .library(name: "FirebaseAuth", targets: ["FirebaseAuth"]),
    .library(name: "FirebaseAuthInternal", targets: ["FirebaseAuthInternal"]),
    .library(name: "FirebaseCore", targets: ["FirebaseCore"]),
    .library(name: "FirebaseDatabase", targets: ["FirebaseDatabase"]),
    .library(name: "FirebaseDatabaseInternal", targets: ["FirebaseDatabaseInternal"]),
    .library(name: "FirebaseDatabaseSwift", targets: ["FirebaseDatabaseSwift"]),
    .library(name: "FirebaseSharedSwift", targets: ["FirebaseSharedSwift"]),
    .library(name: "RealtimeAuth", targets: ["RealtimeAuth"]),
    .library(name: "RealtimeDatabase", targets: ["RealtimeDatabase"]),
    .library(name: "RealtimeServer", targets: ["RealtimeServer"]),
  ],
  // There is one trait: SwiftPM passes several in an order that changes from run to run, and then
  // compiles everything anew.
  traits: [
    .default(enabledTraits: ["Full"]),
    .trait(
      name: "Full",
      description:
        "https URLs and certificates, with BoringSSL, and storage on the disk, with SQLite."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Core: what client and server share.
    // RealtimeCore is pure: no clock, no randomness, no Foundation, no NIO.
    library("RealtimeCore", in: "Core"),
    library("DurableFiles", in: "Core"),
    library(
      "RealtimeTransport",
      in: "Core",
      [
        "RealtimeCore",
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Full"])),
        product("NIOWebSocket", "swift-nio"),
      ]
    ),

    // Client: the engine, in the folder Sync, is pure.
    library(
      "RealtimeDatabase",
      in: "Client",
      [
        "DurableFiles", "RealtimeCore", "RealtimeTransport",
        .product(
          name: "GRDB",
          package: "GRDB.swift",
          condition: .when(traits: ["Full"])
        ),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    library(
      "RealtimeAuth",
      in: "Client",
      [
        "DurableFiles", "RealtimeCore", "RealtimeDatabase", "RealtimeTransport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
      ]
    ),
    // The names that programs for the original import.
    library(
      "FirebaseCore",
      in: "Client",
      ["RealtimeDatabase", product("NIOConcurrencyHelpers", "swift-nio")]
    ),
    library("FirebaseDatabase", in: "Client", ["FirebaseCore", "RealtimeDatabase"]),
    library("FirebaseAuth", in: "Client", ["FirebaseCore", "RealtimeAuth"]),
    library("Firebase", in: "Client", ["FirebaseAuth", "FirebaseCore", "FirebaseDatabase"]),
    // Modules into which the original is, or was, divided.
    library("FirebaseAuthInternal", in: "Client", ["FirebaseAuth"]),
    library("FirebaseDatabaseInternal", in: "Client", ["FirebaseDatabase"]),
    library("FirebaseDatabaseSwift", in: "Client", ["FirebaseDatabase"]),
    library("FirebaseSharedSwift", in: "Client", ["FirebaseDatabase"]),

    // Server: the engine, in the folders Hub and Rules, is pure.
    .systemLibrary(
      name: "CLibcrypto",
      path: "Sources/Server/CLibcrypto",
      providers: [.apt(["libssl-dev"])]
    ),
    library(
      "RealtimeServer",
      in: "Server",
      [
        "CLibcrypto", "DurableFiles", "RealtimeCore", "RealtimeTransport",
        product("GRDB", "GRDB.swift"),
        product("GRDBSQLite", "GRDB.swift"),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    // CPostgres loads libpq when it is first used.
    .target(name: "CPostgres", path: "Sources/Server/CPostgres"),
    library(
      "PostgresStorage",
      in: "Server",
      [
        "CPostgres", "DurableFiles", "RealtimeCore", "RealtimeServer",
        product("NIOConcurrencyHelpers", "swift-nio"),
      ]
    ),

    // App: the blog, its screens, and the program.
    library(
      "BlogModel",
      in: "App",
      ["RealtimeCore", "RealtimeDatabase", product("NIOConcurrencyHelpers", "swift-nio")]
    ),
    .systemLibrary(name: "CNcurses", path: "Sources/App/CNcurses"),
    .plugin(name: "SystemHeaders", capability: .buildTool(), path: "Sources/App/SystemHeaders"),
    library(
      "BlogTUI",
      in: "App",
      [
        "BlogModel", "CNcurses", "RealtimeCore", product("NIOConcurrencyHelpers", "swift-nio"),
      ]
    ),
    library(
      "HearthProgram",
      in: "App",
      [
        "BlogModel", "BlogTUI", "DurableFiles", "PostgresStorage", "RealtimeAuth", "RealtimeCore",
        "RealtimeDatabase", "RealtimeServer", "RealtimeTransport",
        product("ArgumentParser", "swift-argument-parser"),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      plugins: ["SystemHeaders"]
    ),
    program("hearth", in: "App", ["HearthProgram"]),

    // Lab: what proves and measures the rest.
    library(
      "HearthLab",
      in: "Lab",
      [
        "BlogModel", "BlogTUI", "DurableFiles", "RealtimeAuth", "RealtimeCore",
        "RealtimeDatabase", "RealtimeServer", "RealtimeTransport",
        product("Histogram", "hdrhistogram-swift"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    program(
      "hearth-lab",
      in: "Lab",
      [
        "BlogModel", "BlogTUI", "HearthLab", "HearthProgram", "RealtimeCore", "RealtimeDatabase",
        "RealtimeServer", "RealtimeTransport",
        product("ArgumentParser", "swift-argument-parser"),
        product("NIOConcurrencyHelpers", "swift-nio"),
      ]
    ),
    .systemLibrary(name: "CEpoll", path: "Sources/Lab/CEpoll"),
    program(
      "Benchmarks",
      in: "Lab",
      [
        "BlogModel", "BlogTUI", "CEpoll", "HearthLab", "PostgresStorage", "RealtimeCore",
        "RealtimeDatabase", "RealtimeServer",
        product("ArgumentParser", "swift-argument-parser"),
        product("NIOCore", "swift-nio"),
      ]
    ),

    testSupport("TestSupport"),
    testSupport("StoreTestSupport", ["RealtimeCore", "RealtimeServer", "TestSupport"]),
    testSupport("PostgresTestSupport", ["HearthLab"]),
    testSupport("OfflineTestSupport", ["RealtimeCore", "RealtimeDatabase"]),
    testSupport(
      "TransportTestSupport",
      ["RealtimeTransport", product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio")]
    ),
    testSupport("TLSTestSupport", ["CLibcrypto"]),
    testSupport("FaultyStorage", [product("GRDBSQLite", "GRDB.swift")]),
    // A program that the tests of `hearth` start and kill; it is no product.
    .executableTarget(
      name: "FaultyServer",
      dependencies: [
        "DurableFiles", "FaultyStorage", "RealtimeCore", "RealtimeServer",
        product("ArgumentParser", "swift-argument-parser"),
      ],
      path: "Tests/FaultyServer",
      swiftSettings: settings
    ),

    // One script in two modes of Swift, which the tests of `hearth` run; they are no products.
    .executableTarget(
      name: "Swift5Script",
      dependencies: ["RealtimeAuth", "RealtimeDatabase"],
      path: "Tests/Swift5Script",
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    .executableTarget(
      name: "Swift6Script",
      dependencies: ["RealtimeAuth", "RealtimeDatabase"],
      path: "Tests/Swift6Script",
      swiftSettings: [.swiftLanguageMode(.v6)]
    ),

    example("Chat"),
    example("GuestBook"),
    example("Errands"),

    tests("RealtimeCore"),
    tests("DurableFiles"),
    tests(
      "RealtimeTransport",
      [
        "TransportTestSupport",
        product("NIOCore", "swift-nio"),
        product("NIOEmbedded", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
        product("NIOWebSocket", "swift-nio"),
      ],
      exclude: ["Transcripts"]
    ),
    suite(
      "RealtimeSyncTests",
      ["OfflineTestSupport", "RealtimeCore", "RealtimeDatabase"],
      exclude: ["Transcripts"]
    ),
    tests(
      "RealtimeDatabase",
      [
        "DurableFiles", "FaultyStorage", "FirebaseDatabase", "OfflineTestSupport", "RealtimeCore",
        "RealtimeServer", "RealtimeTransport",
        product("GRDB", "GRDB.swift"),
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    tests(
      "RealtimeAuth",
      [
        "DurableFiles", "FirebaseAuth", "RealtimeCore", "RealtimeDatabase", "RealtimeServer",
        "RealtimeTransport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      exclude: ["Tokens"]
    ),
    suite(
      "SecurityRulesTests",
      ["RealtimeCore", "RealtimeServer"],
      exclude: ["BlogAttempts.txt", "Expressions.txt"]
    ),
    suite("RealtimeHubTests", ["RealtimeCore", "RealtimeServer"], exclude: ["Conversations"]),
    tests(
      "RealtimeServer",
      [
        "RealtimeCore", "RealtimeTransport", "TransportTestSupport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOEmbedded", "swift-nio"),
        product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      exclude: ["Cluster/Conversations", "Cluster/Copies"]
    ),
    suite(
      "SQLiteStorageTests",
      [
        "DurableFiles", "FaultyStorage", "RealtimeCore", "RealtimeServer", "StoreTestSupport",
        product("GRDB", "GRDB.swift"),
      ]
    ),
    // What all storages have in common is tested with each of them.
    suite(
      "TreeStorageTests",
      [
        "HearthLab", "PostgresStorage", "PostgresTestSupport", "RealtimeCore", "RealtimeServer",
        "StoreTestSupport",
      ]
    ),
    tests(
      "PostgresStorage",
      [
        "HearthLab", "PostgresTestSupport", "RealtimeCore", "RealtimeServer",
      ]
    ),
    tests(
      "BlogModel",
      [
        "RealtimeDatabase", "RealtimeServer",
        product("NIOConcurrencyHelpers", "swift-nio"),
      ]
    ),
    suite(
      "BlogPagesTests",
      [
        "HearthProgram", "RealtimeServer", "RealtimeTransport", "TransportTestSupport",
      ]
    ),
    tests("HearthProgram", ["BlogModel", "BlogTUI", "RealtimeDatabase", "RealtimeServer"]),
    tests(
      "BlogTUI",
      ["BlogModel", "CNcurses", "RealtimeCore"],
      exclude: ["Goldens", "Ncurses/Goldens"]
    ),
    tests(
      "hearth",
      [
        "Chat", "Errands", "FaultyServer", "FaultyStorage", "GuestBook", "HearthLab",
        "HearthProgram", "PostgresTestSupport", "RealtimeCore", "RealtimeDatabase", "Swift5Script",
        "Swift6Script", "TLSTestSupport", "hearth-lab",
        product("ArgumentParser", "swift-argument-parser"),
      ],
      exclude: ["Sessions"]
    ),
    suite(
      "BlogCheckerTests",
      [
        "DurableFiles", "HearthLab", "RealtimeCore", "RealtimeServer", "RealtimeTransport",
        product("NIOPosix", "swift-nio"),
      ],
      exclude: ["Histories"]
    ),
    suite(
      "BlogSwarmTests",
      [
        "BlogTUI", "HearthLab", "RealtimeCore", "RealtimeDatabase",
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ],
      exclude: ["Goldens"]
    ),

    // What concerns several libraries at once.
    suite(
      "SimulationTests",
      ["OfflineTestSupport", "RealtimeCore", "RealtimeDatabase", "RealtimeServer"]
    ),
    suite(
      "NetworkTests",
      [
        "HearthLab", "RealtimeCore", "RealtimeDatabase", "RealtimeServer", "RealtimeTransport",
        "TLSTestSupport", "TransportTestSupport",
        product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"),
        product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ]
    ),
    suite(
      "AdminSDKTests",
      [
        "HearthLab", "PostgresTestSupport", "RealtimeServer", "TLSTestSupport",
        product("NIOPosix", "swift-nio"),
      ],
      exclude: ["admin_cluster.py", "admin_sdk.py"]
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
  ]
)

/// What the checks of `FuzzTests` look at.
let fuzzed: [Target.Dependency] = [
  "BlogTUI", "RealtimeCore", "RealtimeServer", "RealtimeTransport",
  product("NIOConcurrencyHelpers", "swift-nio"),
  product("NIOCore", "swift-nio"),
  product("NIOEmbedded", "swift-nio"),
  product("NIOHTTP1", "swift-nio"),
]
if Context.environment["HEARTH_FUZZ"] == nil {
  package.targets.append(
    suite("FuzzTests", fuzzed, exclude: ["Driver"])
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

// A short loop while one works: `HEARTH_SUITES=RealtimeHub,SecurityRules swift build --build-tests`
// builds the tests of these targets alone, and what they need.
if let names = Context.environment["HEARTH_SUITES"]?.split(separator: ",") {
  package.targets.removeAll { target in
    target.type == .test && !names.contains { target.name == "\($0)Tests" }
  }
}
