import Foundation
import Testing

@testable import BlogTUI

@Suite("Generated assets")
struct AssetTests {
  private static let assets = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("assets")

  /// Compares a file with its expected content, or writes it if `UPDATE_GOLDENS` is 1.
  private func check(_ text: String, _ path: String) throws {
    let file = Self.assets.appendingPathComponent(path)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      let folder = file.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? "no such file"
    #expect(text == expected, "\(path) is stale: run the tests with UPDATE_GOLDENS=1")
  }

  @Test("Each built-in theme round-trips through its file", arguments: Theme.builtIn)
  func themes(theme: Theme) throws {
    let text = ThemeText.text(of: theme)
    try check(text, "themes/\(theme.name).toml")
    let file = ConfigurationReader.ThemeFile(name: theme.name, source: "t", text: text)
    var problems: [ConfigurationProblem] = []
    let read = ThemeText.theme(of: file, problems: &problems)
    #expect(problems == [])
    for role in Theme.Role.allCases { #expect(read[role] == theme[role]) }
  }

  @Test("The manual pages match the tables of keys, settings and script steps")
  func manual() throws {
    try check(ManualPages.keys, "man/hearth-keys.7")
    try check(ManualPages.configuration, "man/hearth-config.5")
    try check(ManualPages.script, "man/hearth-script.5")
  }

  @Test("The example configuration contains the defaults")
  func example() throws {
    let text = ConfigurationText.text(of: Configuration())
    try check(text, "config/config.toml")
    #expect(ConfigurationReader(text: text, source: "c").result.problems == [])
  }

  @Test("The manual covers every action, setting, command and theme role")
  func complete() {
    let keys = ManualPages.keys
    for action in KeyTable.standard.actions {
      #expect(keys.contains("\(Roff.escaped(action.name)): "))
    }
    for command in Command.all { #expect(keys.contains(Roff.escaped(command.name))) }
    let configuration = ManualPages.configuration
    for setting in Setting.allCases {
      #expect(configuration.contains("\(Roff.escaped(setting.rawValue)) = "))
    }
    for role in Theme.Role.allCases { #expect(configuration.contains(Roff.escaped(role.rawValue))) }
  }

  @Test("Text is escaped and never becomes a roff request")
  func escaping() {
    #expect(Roff.escaped(".TH \\fB-x") == "\\&.TH \\efB\\-x")
    #expect(Roff.escaped("^A 'x'") == "\\(haA \\(aqx\\(aq")
  }
}
