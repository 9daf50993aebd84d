import BlogModel
import Foundation
import Testing

@testable import BlogTUI

@Suite("Settings and themes")
struct SettingsTests {
  @Test("The stronger origin wins, whatever the order")
  func origins() {
    var settings = Settings()
    settings.choose(.word("light"), for: .theme, from: .commandLine("--theme"))
    settings.choose(.word("mono"), for: .theme, from: .file("c", line: 1))
    #expect(settings.word(.theme) == "light")
    settings.choose(.word("mono"), for: .theme, from: .session)
    #expect(settings.word(.theme) == "mono")
  }

  @Test("Every default value can be typed", arguments: Setting.allCases)
  func defaults(setting: Setting) {
    let names = Configuration().themeNames
    let read = setting.value(of: setting.standard.description, themes: names)
    #expect(read == .success(setting.standard))
    #expect(setting.value(of: "nonsense\u{1}", themes: names) != .success(setting.standard))
  }

  @Test("A new configuration applies at runtime, and an invalid value changes nothing")
  func reload() {
    var model = Fixture.loaded()
    var configuration = Configuration()
    configuration.settings.choose(.word("light"), for: .theme, from: .file("c.toml", line: 1))
    model.send(.configured(configuration))
    #expect(model.theme == .light)
    let problem = ConfigurationProblem(source: "config.toml", line: 3, reason: "no such thing")
    configuration.problems = [problem]
    model.send(.configured(configuration))
    #expect(model.theme == .light)
    #expect(model.message?.text.string == "config.toml:3: no such thing.")
    // Once the file is mended, the screen no longer says what was wrong with it.
    configuration.problems = []
    model.send(.configured(configuration))
    #expect(model.message == .note("The configuration has no mistakes any more"))
    model.type("j")
    model.send(.configured(configuration))
    #expect(model.message == nil)
  }

  /// The words of the screen, regardless of line breaks.
  private func words(_ model: Model) -> String {
    model.rows.joined(separator: " ").split(separator: " ").joined(separator: " ")
  }

  @Test("A value tried but not saved reverts with its origin")
  func tried() {
    let origin = Settings.Origin.file("config.toml", line: 3)
    var configuration = Configuration()
    configuration.settings.choose(.word("light"), for: .theme, from: origin)
    var model = Fixture.loaded()
    model.send(.configured(configuration))
    model.type(.key(.function(2)), "theme", .key(.right), .key(.right), .key(.left))
    #expect(model.theme != .light)
    model.type(.escape)
    #expect(model.theme == .light)
    #expect(model.settings.origin(of: .theme) == .file("config.toml", line: 3))
    #expect(model.chooser == nil)
  }

  @Test("The settings show what a file says meanwhile, and going back leads to that")
  func changedMeanwhile() {
    var model = Fixture.loaded()
    model.type(.key(.function(2)), "theme", .key(.right))
    var configuration = Configuration()
    configuration.settings.choose(.word("paper"), for: .theme, from: .file("c.toml", line: 1))
    configuration.settings.choose(.flag(false), for: .mouse, from: .file("c.toml", line: 2))
    model.send(.configured(configuration))
    #expect(model.theme.name != "paper")
    #expect(model.chooser?.items.first?.detail == model.theme.name)
    model.type(.control("u"), "mouse")
    #expect(model.chooser?.selection?.detail == "false")
    model.type(.escape)
    #expect(model.theme.name == "paper")
    #expect(model.settings.origin(of: .theme) == .file("c.toml", line: 1))
  }

  @Test("Every setting is explained in full below the list")
  func explained() {
    for size in [Size(width: 80, height: 24), Size(width: 120, height: 40)] {
      var model = Fixture.loaded(size)
      model.type(.key(.function(2)))
      for setting in Setting.allCases {
        #expect(words(model).contains(setting.help), "\(setting)")
        model.type(.key(.down))
      }
    }
  }

  @Test("Without colours a theme keeps only its attributes", arguments: Theme.builtIn)
  func withoutColors(theme: Theme) {
    for role in Theme.Role.allCases {
      let style = theme.withoutColors[role]
      #expect(style.foreground == .standard && style.background == .standard)
      // What only a ground sets off is reversed, unless it would then look selected.
      let isLost = theme[role].background != .standard && role != .glow
      let ground: Style.Attributes = isLost ? .reverse : []
      #expect(style.attributes == theme[role].attributes.union(ground))
    }
  }

  @Test("Selections, notices and errors stand out even without colours", arguments: Theme.builtIn)
  func emphasis(theme: Theme) {
    for role in [Theme.Role.selected, .activeTab, .notice, .failure, .question, .title, .key] {
      #expect(!theme.withoutColors[role].attributes.isEmpty, "\(role)")
    }
  }

  /// The luminance of a colour by WCAG 2.
  private static func luminance(_ color: UInt32) -> Double {
    let shares = [color >> 16 & 255, color >> 8 & 255, color & 255].map { part in
      let share = Double(part) / 255
      return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * shares[0] + 0.7152 * shares[1] + 0.0722 * shares[2]
  }

  /// The contrast of two colours by WCAG 2, from 1 to 21.
  static func contrast(_ one: UInt32, _ other: UInt32) -> Double {
    let (one, other) = (luminance(one), luminance(other))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
  }

  @Test("Every colour of a palette is readable on all of its grounds", arguments: Palette.all)
  func contrast(palette: Palette) {
    let inks = [
      palette.dim, palette.brand, palette.author, palette.star, palette.question, palette.good,
      palette.bad,
    ]
    for ground in [palette.ground, palette.selection, palette.glow] {
      for ink in inks {
        let contrast = Self.contrast(ink, ground)
        let names = "\(String(ink, radix: 16)) on \(String(ground, radix: 16))"
        #expect(contrast >= 4.5, "\(palette.name): \(names): \(contrast)")
      }
    }
    #expect(palette.theme.hasQuietSelection)
    for role in Self.textRoles {
      guard case .rgb(let red, let green, let blue) = palette.theme[role].foreground else {
        continue
      }
      let ink = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
      #expect(inks.contains(ink), "\(palette.name): \(role) is not checked")
    }
  }

  /// The parts of a text.
  private static let textRoles: [Theme.Role] = [
    .title, .author, .heading, .quote, .link, .code, .keyword, .string, .number, .comment,
  ]

  @Test("The parts of a text are readable in the light theme, and differ in every one with colours")
  func textRoles() {
    for role in Self.textRoles {
      guard case .rgb(let red, let green, let blue) = Theme.light[role].foreground else { continue }
      let ink = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
      #expect(1.05 / (Self.luminance(ink) + 0.05) >= 4.5, "\(role)")
    }
    for theme in [Theme.dark, .light] + Palette.all.map(\.theme) {
      #expect(theme.quote != theme.code && theme.link != theme.text, "\(theme.name)")
      #expect(theme.code.foreground != .standard, "\(theme.name)")
    }
  }

  @Test("A theme without a style for a part of a text uses that of a similar part")
  func fallbacks() {
    let theme = Theme(name: "own", styles: [.author: Theme.dark.author, .dim: Theme.dark.dim])
    #expect(theme.link == theme.author)
    #expect(theme[.keyword] == theme.author)
    #expect(theme[.comment] == theme.dim)
  }

  @Test(
    "The automatic theme fits the background and the number of colours",
    arguments: [
      (nil, nil, Theme.ember), (true, nil, .emberLight), (false, 1 << 24, .ember),
      (true, 256, .emberLight), (nil, 8, .dark), (true, 8, .light), (false, 0, .dark),
    ] as [(Bool?, Int?, Theme)]
  )
  func automatic(isLight: Bool?, colorCount: Int?, theme: Theme) {
    var configuration = Configuration()
    configuration.isLight = isLight
    configuration.colorCount = colorCount
    #expect(configuration.theme == theme)
    configuration.settings.choose(.word("paper"), for: .theme, from: .session)
    #expect(configuration.theme.name == "paper")
  }

  @Test("A selected row keeps the colours of its parts if it has a ground of its own")
  func selection() {
    let star = Theme.ember.style(Theme.ember.star, isSelected: true)
    #expect(star.foreground == Theme.ember.star.foreground)
    #expect(star.background == Theme.ember.selected.background)
    #expect(star.attributes == .bold)
    #expect(Theme.dark.style(Theme.dark.star, isSelected: true) == Theme.dark.selected)
    #expect(Theme.dark.quiet(Theme.dark.star) == Theme.dark.star)
  }

  @Test("Ordinary text keeps the terminal's background")
  func background() {
    for theme in Theme.builtIn {
      for role in [Theme.Role.text, .title, .dim, .author, .star, .rule] {
        #expect(theme[role].background == .standard)
      }
    }
  }

  @Test("A style round-trips through its description")
  func styles() {
    let all: [Style] =
      Theme.builtIn.flatMap { theme in Theme.Role.allCases.map { theme[$0] } }
      + [Style(foreground: .indexed(214), background: .rgb(1, 2, 255), attributes: [.dim, .bold])]
    for style in all { #expect(Style(description: style.description) == style) }
    for text in ["bolt", "on", "bold on", "#12345", "256", "red on on blue"] {
      #expect(Style(description: text) == nil, "\(text)")
    }
  }

  @Test("Text is no wider than the configured width")
  func textWidth() {
    var model = Fixture.opened(Size(width: 120, height: 30))
    model.type(":set text-width 40", .enter)
    let lines = model.rows.filter { $0.contains("newspaper") || $0.contains("train left") }
    #expect(!lines.isEmpty)
    for line in lines { #expect(line.count <= 42) }
  }
}
