import Foundation
import TestSupport
import Testing

@testable import HearthProgram

@Suite("Watching the configuration", .timeLimit(.minutes(1)))
struct ConfigurationWatchTests {
  private let home: TemporaryDirectory
  private let calls = Record<Void>()

  init() throws {
    home = try TemporaryDirectory()
  }

  private func watch() throws -> ConfigurationWatch {
    let configuration = home.file(".config/hearth")
    let calls = calls
    let watch = ConfigurationWatch(
      file: configuration + "/config.toml",
      themes: configuration + "/themes"
    ) { calls.append(()) }
    return try #require(watch)
  }

  private func create(_ directory: String) throws {
    try FileManager.default.createDirectory(
      atPath: home.file(directory),
      withIntermediateDirectories: true
    )
  }

  private func write(_ path: String, atomically: Bool = false) throws {
    try "x".write(toFile: home.file(path), atomically: atomically, encoding: .utf8)
  }

  /// Waits for a call after what the body does.
  private func expectCall(_ body: () throws -> Void) async throws {
    let before = calls.elements.count
    try body()
    _ = await calls.wait(for: before + 1)
  }

  @Test("Changes of the file and the themes are noticed once their directories exist")
  func changes() async throws {
    let watch = try watch()
    defer { withExtendedLifetime(watch) {} }
    try await expectCall { try create(".config") }
    try await expectCall { try create(".config/hearth") }
    try await expectCall { try write(".config/hearth/config.toml") }
    try await expectCall {
      try write(".config/hearth/config.toml", atomically: true)
    }
    try await expectCall { try create(".config/hearth/themes") }
    try await expectCall { try write(".config/hearth/themes/night.toml") }
    try await expectCall {
      try FileManager.default.moveItem(
        atPath: home.file(".config/hearth"),
        toPath: home.file(".config/old")
      )
    }
    try await expectCall { try create(".config/hearth/themes") }
    try await expectCall { try write(".config/hearth/themes/day.toml") }
  }

  @Test("A change of a symbolic link's target is noticed")
  func links() async throws {
    try create("dotfiles")
    try write("dotfiles/hearth.toml")
    let watch = try watch()
    defer { withExtendedLifetime(watch) {} }
    try await expectCall { try create(".config") }
    try await expectCall { try create(".config/hearth") }
    try await expectCall {
      try FileManager.default.createSymbolicLink(
        atPath: home.file(".config/hearth/config.toml"),
        withDestinationPath: "../../dotfiles/hearth.toml"
      )
    }
    try await expectCall { try write("dotfiles/hearth.toml") }
    try await expectCall { try write("dotfiles/hearth.toml", atomically: true) }
  }

  @Test("Other files in these directories cause no work")
  func others() async throws {
    try create(".config/hearth")
    let watch = try watch()
    defer { withExtendedLifetime(watch) {} }
    for path in [".history", "themes", ".config/other", ".config/hearth/notes"] {
      try write(path)
      try write(path, atomically: true)
      try FileManager.default.removeItem(atPath: home.file(path))
    }
    for number in 0..<500 { try write("file \(number)") }
    usleep(300_000)
    #expect(calls.elements.isEmpty)
    try await expectCall { try write(".config/hearth/config.toml") }
  }
}
