// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "guest-book",
  dependencies: [.package(name: "hearth", path: "../..")],
  targets: [
    .executableTarget(
      name: "GuestBook",
      dependencies: [.product(name: "RealtimeDatabase", package: "hearth")]
    )
  ]
)
