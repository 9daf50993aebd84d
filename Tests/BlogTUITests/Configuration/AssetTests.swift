import Foundation
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Generated assets")
struct AssetTests {
  /// Compares a file with its expected content, or writes it if `UPDATE_GOLDENS` is 1.
  private func check(_ text: String, _ path: String) {
    let file = PackageFiles.path("assets/\(path)")
    let expected = GoldenFile.text(at: file, orWrite: text)
    #expect(text == expected, "\(path) is stale: run the tests with UPDATE_GOLDENS=1")
  }

  private func text(of theme: Theme) -> String {
    let heading = """
      # The theme "\(theme.name)". A copy of this file in $XDG_CONFIG_HOME/hearth/themes, under
      # another name, is a theme of that name: see hearth-config(5).

      """
    let lines = Theme.Role.allCases.map { "\($0.rawValue) = \"\(theme[$0].description)\"\n" }
    return heading + "\n" + lines.joined()
  }

  @Test("Each built-in theme round-trips through its file", arguments: Theme.builtIn)
  func themes(theme: Theme) {
    let text = text(of: theme)
    check(text, "themes/\(theme.name).toml")
    let file = (name: theme.name, source: "t", text: text)
    var problems: [ConfigurationProblem] = []
    let read = ThemeText.theme(of: file, problems: &problems)
    #expect(problems == [])
    for role in Theme.Role.allCases { #expect(read[role] == theme[role]) }
  }

  @Test("The table of contrasts names every pair of role and ground, each at least 4.5 to 1")
  func contrasts() {
    func color(_ color: Color) -> UInt32? {
      guard case .rgb(let red, let green, let blue) = color else { return nil }
      return UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
    }
    func cell(_ text: String, _ width: Int) -> String {
      text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }
    var lines = [
      "Contrasts by WCAG 2 of each role of the themes with shades: on the ground for which a theme is",
      "made, on the selected row, and on a row that has just arrived. 4.5 is the least for text. A role",
      "with a ground of its own stands once. Roles that are missing have the terminal's own colour.",
      "",
      cell("theme", 14) + cell("role", 17) + "ground  selected  arrived",
    ]
    for palette in Palette.all {
      for role in Theme.Role.allCases {
        let style = palette.theme[role]
        guard let ink = color(style.foreground) else { continue }
        let own = color(style.background)
        let grounds = own.map { [$0] } ?? [palette.ground, palette.selection, palette.glow]
        let ratios = grounds.map { SettingsTests.contrast(ink, $0) }
        #expect(ratios.allSatisfy { $0 >= 4.5 }, "\(palette.name): \(role.rawValue)")
        let row =
          cell(palette.name, 14) + cell(role.rawValue, 17)
          + ratios.map { cell(String(format: "%.2f", $0), 8) }.joined(separator: " ")
        lines.append(String(row.reversed().drop { $0 == " " }.reversed()))
      }
    }
    check(lines.joined(separator: "\n") + "\n", "themes/contrast.txt")
  }

  @Test("The example configuration contains the defaults")
  func example() {
    let text = ConfigurationText.text(of: Configuration())
    check(text, "config/config.toml")
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
