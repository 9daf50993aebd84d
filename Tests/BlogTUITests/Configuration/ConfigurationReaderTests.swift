import Testing

@testable import BlogTUI

@Suite("ConfigurationReader")
struct ConfigurationReaderTests {
  private func read(_ text: String) -> Configuration {
    ConfigurationReader(text: text, source: "config.toml").result
  }

  @Test("Settings and keys are read with their line numbers")
  func reading() {
    let configuration = read(
      """
      # mine
      theme = "light"
      mouse = false
      text-width = 80

      [keys]
      "x" = "star"
      [keys.list]
      "d d" = "delete"
      '"' = "help"
      """
    )
    #expect(configuration.problems == [])
    #expect(configuration.settings.word(.theme) == "light")
    #expect(configuration.settings.origin(of: .theme) == .file("config.toml", line: 2))
    #expect(!configuration.settings.isOn(.mouse))
    #expect(configuration.settings.number(.textWidth) == 80)
    #expect(
      configuration.keys == [
        KeyOverride(context: nil, keys: "x", action: "star", line: 7),
        KeyOverride(context: "list", keys: "d d", action: "delete", line: 9),
        KeyOverride(context: "list", keys: "\"", action: "help", line: 10),
      ]
    )
  }

  @Test("A value after a faulty line with the same key is reported at its own line")
  func faultyTwin() {
    let configuration = read("theme = \nmouse = false\ntheme = \"pink\"")
    #expect(configuration.problems.map(\.line) == [1, 3])
    #expect(!configuration.settings.isOn(.mouse))
  }

  @Test("An invalid value is reported with its line and ignored; the rest applies")
  func wrongValues() {
    let configuration = read(
      """
      theme = "pink"
      mouse = "perhaps"
      text-width = 7
      thme = "dark"
      bell = false
      [colours]
      a = 1
      """
    )
    #expect(configuration.problems.map(\.line) == [1, 2, 3, 4, 7])
    #expect(
      configuration.problems[0].description.hasPrefix("config.toml:1: theme is one of auto, ember")
    )
    #expect(configuration.problems[3].reason.contains("\"theme\" exists"))
    #expect(configuration.settings.word(.theme) == "auto")
    #expect(!configuration.settings.isOn(.bell))
  }

  @Test(
    "An invalid TOML line is skipped, and the following lines still apply",
    arguments: [
      "theme = ", "= 1", "theme light", "[keys", "a = 'x", "bell = fals", "\u{0}",
      "theme = \"x\\q\"", "[", "[[", "[[[", "[}", "[ [keys]", "a=[}", "a = [1, ]]",
      "a=2020-01-01true+",
      "a = [", "a = {x = 1", "a = \"\"\"x", "a = \"\\u0000\"", "bell = 1e",
      "text-width = 080", "a = \"\"\"\\u41\n\"\"\"",
    ]
  )
  func noTOML(line: String) {
    let configuration = read("mouse = false\n\(line)\nascii = true\n")
    #expect(!configuration.settings.isOn(.mouse))
    #expect(configuration.settings.isOn(.ascii))
    #expect(configuration.problems.contains { $0.line == 2 })
  }

  @Test("A duplicate key is reported with its line, and the first value applies")
  func duplicates() {
    let configuration = read("theme = \"light\"\ntheme = \"mono\"\n")
    #expect(configuration.settings.word(.theme) == "light")
    #expect(configuration.problems.map(\.line) == [2])
  }

  @Test("A mark at the beginning, as Windows writes it, is no part of the first line")
  func byteOrderMark() {
    let configuration = read("\u{FEFF}theme = \"light\"\r\nmouse = false\r\n")
    #expect(configuration.problems == [])
    #expect(configuration.settings.word(.theme) == "light")
    #expect(configuration.settings.origin(of: .theme) == .file("config.toml", line: 1))
  }

  @Test("Strings of several lines, numbers in other forms and tables in braces are read")
  func otherForms() {
    let document = TOMLDocument(
      """
      a = \"""
      one \\

        "two\\t\""" # comment
      b = '''x\\y'''
      c = [1, # one
        "]", [2.5]]
      d.e = { f = "g", h = +1_000 }
      i = 2020-01-01T10:00:00Z
      "j k" = 'l'
      """
    )
    #expect(document.faults.isEmpty)
    #expect(
      document.entries.map { ($0.table + [$0.key]).joined(separator: ".") }
        == ["a", "b", "c", "d.e.f", "d.e.h", "i", "j k"]
    )
    #expect(
      document.entries.map(\.value)
        == ["one \"two\t", #"x\y"#, nil, "g", "1000", nil, "l"]
    )
    #expect(document.entries.map(\.line) == [1, 5, 6, 8, 8, 9, 10])
  }

  @Test("Whole numbers of other bases, and marks that combine with quotes and comments, are read")
  func numbersAndMarks() {
    let document = TOMLDocument(
      "a = 0x5_0 # c\nb = 0o17#\u{301}\nc = -0\nd = 0b11\n'\u{301}x' = '\u{301}'\ne = 0x\n"
        + "f = -0x1"
    )
    #expect(document.faults.isEmpty)
    #expect(document.entries.map(\.key) == ["a", "b", "c", "d", "\u{301}x", "e", "f"])
    #expect(document.entries.map(\.value) == ["80", "15", "0", "3", "\u{301}", nil, nil])
  }

  @Test("A value is not nested without end")
  func nesting() {
    let document = TOMLDocument("a = " + String(repeating: "[", count: 100_000) + "\nb = 1")
    #expect(document.faults.map(\.line) == [1])
    #expect(document.entries.map(\.key) == ["b"])
  }

  @Test("Options override environment variables, which override the file")
  func order() {
    var reader = ConfigurationReader(text: "theme = \"light\"\nbell = false", source: "c")
    reader.read(environment: ["HEARTH_THEME": "mono", "HEARTH_ASCII": "yes", "HEARTH_BELL": "?"])
    reader.read("high-contrast", for: .theme, option: "--theme")
    let configuration = reader.result
    #expect(configuration.settings.word(.theme) == "high-contrast")
    #expect(configuration.settings.isOn(.ascii))
    #expect(!configuration.settings.isOn(.bell))
    #expect(configuration.problems.map(\.source) == ["$HEARTH_BELL"])
  }

  @Test("A light terminal gets the light theme unless another one is configured")
  func lightTerminal() {
    var reader = ConfigurationReader(text: nil, source: "c")
    reader.read(environment: ["COLORFGBG": "0;15"])
    #expect(reader.result.theme == .emberLight)
    reader = ConfigurationReader(text: "theme = \"mono\"", source: "c")
    reader.read(environment: ["COLORFGBG": "0;15"])
    #expect(reader.result.theme == .mono)
  }

  @Test("A custom theme can be chosen, and its invalid lines are reported")
  func themes() {
    let file = (
      name: "mine",
      source: "mine.toml",
      text: "title = \"bold #ff8700\"\nnothing = \"red\"\ndim = \"grey\"\n"
    )
    let reader = ConfigurationReader(text: "theme = \"mine\"", source: "c", themes: [file])
    let configuration = reader.result
    #expect(configuration.theme.name == "mine")
    #expect(configuration.theme[.title].description == "bold #ff8700")
    #expect(configuration.problems.map(\.line) == [2, 3])
  }

  @Test("A printed configuration reads back unchanged")
  func printing() {
    let before = read("theme = \"light\"\nmouse = false\n[keys.list]\n\"g x\" = \"star\"\n")
    let after = read(ConfigurationText.text(of: before))
    #expect(after.problems == [])
    for setting in Setting.allCases { #expect(after.settings[setting] == before.settings[setting]) }
    #expect(after.keys.map(\.keys) == ["g x"])
    #expect(ConfigurationText.text(of: before).contains("mouse = false  # config.toml:2"))
  }

  @Test("Saving a value leaves the rest of the file unchanged")
  func keeping() throws {
    let text = "# mine\ntheme = \"light\" # for the day\n\n[keys.list]\ntheme = \"star\"\n"
    let kept = ConfigurationText.setting(.theme, to: .word("mono"), in: text)
    #expect(
      kept == "# mine\ntheme = \"mono\"  # for the day\n\n[keys.list]\ntheme = \"star\"\n"
    )
    let added = try #require(ConfigurationText.setting(.bell, to: .flag(false), in: text))
    #expect(added.hasPrefix("# mine\ntheme = \"light\" # for the day\nbell = false\n"))
    #expect(ConfigurationText.setting(.bell, to: .flag(false), in: "") == "bell = false\n")
    #expect(read(added).settings.isOn(.bell) == false)
    let marked = ConfigurationText.setting(.theme, to: .word("mono"), in: "\u{FEFF}" + text)
    #expect(marked == kept)
  }

  @Test(
    "A file that has a setting in a form that a line cannot replace is left alone",
    arguments: ["theme = \"\"\"\nlight\"\"\"\n", "note = \"\"\"\ntheme = 1\n\"\"\"\n"]
  )
  func unchangeable(text: String) {
    #expect(ConfigurationText.setting(.theme, to: .word("mono"), in: text) == nil)
  }
}
