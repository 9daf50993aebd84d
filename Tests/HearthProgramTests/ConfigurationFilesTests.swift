import Foundation
import TestSupport
import Testing

@testable import BlogTUI
@testable import HearthProgram

@Suite("Configuration files")
struct ConfigurationFilesTests {
  private let home: TemporaryDirectory
  private let files: ConfigurationFiles
  private let path: String

  init() throws {
    home = try TemporaryDirectory()
    files = ConfigurationFiles(path: nil, environment: ["HOME": home.path])
    path = home.file(".config/hearth/config.toml")
  }

  private func makeFolder() throws {
    try FileManager.default.createDirectory(
      atPath: home.file(".config/hearth"),
      withIntermediateDirectories: true
    )
  }

  private func keepsTheme() -> Bool {
    if case .success = files.keep(.word("light"), for: .theme) { true } else { false }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("A setting is saved in a file and a directory that only the owner can read")
  func modes() throws {
    #expect(keepsTheme())
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "theme = \"light\"\n")
    #expect(try mode(path) == 0o600)
    #expect(try mode(home.file(".config/hearth")) == 0o700)
    #expect(keepsTheme())
    #expect(try mode(path) == 0o600)
  }

  @Test("A setting is not saved in a file that is not UTF-8 text")
  func notText() throws {
    try makeFolder()
    let bytes = Data("# Gr\u{FC}n\n".unicodeScalars.map { UInt8($0.value) })
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(!keepsTheme())
    #expect(FileManager.default.contents(atPath: path) == bytes)
  }

  @Test("A setting does not replace a file that cannot be read")
  func unreadable() throws {
    try makeFolder()
    // Even root cannot follow a link to itself.
    #expect(symlink("config.toml", path) == 0)
    #expect(!keepsTheme())
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "config.toml")
    #expect(files.read().problems.count == 1)
  }

  @Test("A setting is saved where a link leads to, even if nothing is there yet")
  func danglingLink() throws {
    try makeFolder()
    #expect(symlink("mine.toml", path) == 0)
    #expect(keepsTheme())
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "mine.toml")
    #expect(files.read().settings.word(.theme) == "light")
  }
}
