// swift-tools-version: 6.2
import PackageDescription

let database = Target.Dependency.product(name: "RealtimeDatabase", package: "hearth")

let package = Package(
  name: "examples",
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    // The shortest one: two people talk.
    .executableTarget(name: "Chat", dependencies: [database]),
    // Codable models, values that the server sets, a counter.
    .executableTarget(name: "GuestBook", dependencies: [database]),
    // A queue of writes that outlives the program.
    .executableTarget(name: "Errands", dependencies: [database]),
    // Code as programs for the original have it; the tests of the package compile it in Swift 6 mode too.
    .target(
      name: "Ported",
      dependencies: [
        .product(name: "Firebase", package: "hearth"),
        .product(name: "FirebaseAuth", package: "hearth"),
        .product(name: "FirebaseCore", package: "hearth"),
        .product(name: "FirebaseDatabase", package: "hearth"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    // A server in a test.
    .testTarget(
      name: "VisitTests",
      dependencies: [database, .product(name: "RealtimeServer", package: "hearth")]
    ),
  ]
)
