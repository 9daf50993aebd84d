// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "guest-book",
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    .executableTarget(
      name: "GuestBook",
      dependencies: [.product(name: "RealtimeDatabase", package: "hearth")]
    ),
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
  ]
)
