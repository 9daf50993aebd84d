/// The styles of all parts; colour never carries meaning that words or symbols do not also carry.
package struct Theme: Hashable, Sendable, Codable {
  /// A part that has a style of its own.
  package enum Role: String, CaseIterable, Hashable, Sendable, Codable {
    /// The name of the program or of the page.
    case brand
    /// The tab of the list that is shown.
    case activeTab = "active-tab"
    /// The tabs of the other lists.
    case tab
    /// Thin lines between parts.
    case rule
    /// The edge of an unselected item.
    case border
    /// The edge of the selected item.
    case selectedBorder = "selected-border"
    case title
    case text
    case author
    /// Less important text.
    case dim
    case star
    case selected
    /// New items.
    case notice
    /// Messages that are good to know.
    case note
    /// Messages about failures.
    case failure
    case question
    case key
    /// Connected, or done.
    case good
    case waiting
    /// Disconnected, or refused.
    case bad
    /// The characters that match the typed text.
    case match
    /// What has just arrived, on top of the style that it has at rest.
    case glow
    case heading
    /// What a text quotes.
    case quote
    /// Links, tags and mentions, which are also underlined.
    case link
    /// Code; if it has no colour, texts keep the marks around it.
    case code
    /// Words with a meaning of their own in code.
    case keyword
    case string
    case number
    /// Comments in code.
    case comment

    /// The part whose style each of these has in a theme that has none for it.
    fileprivate static let fallbacks: [Role: Role] = [
      .heading: .title, .quote: .note, .link: .author, .code: .author, .comment: .dim,
      .keyword: .code, .string: .code, .number: .code,
    ]
  }

  package let name: String
  let styles: [Role: Style]

  package subscript(role: Role) -> Style {
    styles[role] ?? Role.fallbacks[role].map { self[$0] } ?? .plain
  }

  /// Whether the parts of a selected row keep their colours, on a ground of its own.
  var hasQuietSelection: Bool {
    selected.background != .standard && !selected.attributes.contains(.reverse)
  }

  /// The style of a part of a row; where selected rows have no ground of their own, all their parts
  /// look the same.
  func style(_ style: Style, isSelected: Bool) -> Style {
    guard isSelected else { return style }
    return hasQuietSelection ? quiet(style) : selected
  }

  /// The style on the ground of a selected row, if it has one.
  func quiet(_ style: Style) -> Style {
    guard hasQuietSelection else { return style }
    return Style(
      foreground: style.foreground == .standard ? selected.foreground : style.foreground,
      background: selected.background,
      attributes: style.attributes
    )
  }

  /// The style of a part that has just arrived.
  func glowing(_ style: Style) -> Style {
    let glow = self[.glow]
    return Style(
      foreground: glow.foreground == .standard ? style.foreground : glow.foreground,
      background: glow.background == .standard ? style.background : glow.background,
      attributes: style.attributes.union(glow.attributes)
    )
  }

  var brand: Style { self[.brand] }
  var activeTab: Style { self[.activeTab] }
  var tab: Style { self[.tab] }
  var rule: Style { self[.rule] }
  var border: Style { self[.border] }
  var selectedBorder: Style { self[.selectedBorder] }
  var title: Style { self[.title] }
  var text: Style { self[.text] }
  var author: Style { self[.author] }
  var dim: Style { self[.dim] }
  var star: Style { self[.star] }
  var selected: Style { self[.selected] }
  var notice: Style { self[.notice] }
  var note: Style { self[.note] }
  var failure: Style { self[.failure] }
  var question: Style { self[.question] }
  var key: Style { self[.key] }
  var good: Style { self[.good] }
  var waiting: Style { self[.waiting] }
  var bad: Style { self[.bad] }
  var match: Style { self[.match] }
  var heading: Style { self[.heading] }
  var quote: Style { self[.quote] }
  var link: Style { self[.link] }
  var code: Style { self[.code] }
}

extension Theme {
  /// Makes a theme of styles, each with the parts that have it.
  init(name: String, parts: KeyValuePairs<Style, [Role]>) {
    let pairs = parts.flatMap { style, roles in roles.map { ($0, style) } }
    self.init(name: name, styles: Dictionary(uniqueKeysWithValues: pairs))
  }

  package static let builtIn = Palette.all.map(\.theme) + [dark, light, highContrast, mono]

  /// For dark backgrounds, with colours that every terminal supports.
  package static let dark = Theme(
    name: "dark",
    parts: [
      Style(foreground: .yellow, attributes: .bold): [
        .brand, .selectedBorder, .star, .notice, .question, .heading,
      ],
      Style(attributes: [.bold, .reverse]): [.activeTab],
      Style(attributes: .dim): [.rule, .border, .dim, .quote, .comment],
      Style(attributes: .bold): [.title, .key],
      Style(foreground: .cyan): [.author, .code],
      Style(attributes: .reverse): [.selected],
      Style(foreground: .red, attributes: .bold): [.failure, .bad],
      Style(foreground: .green): [.good, .string],
      Style(foreground: .yellow): [.waiting, .glow, .keyword],
      Style(foreground: .yellow, attributes: [.bold, .underline]): [.match],
      Style(foreground: .magenta): [.link, .number],
    ]
  )

  /// For light backgrounds: no yellow, no cyan, nothing faint.
  package static let light = Theme(
    name: "light",
    parts: [
      Style(foreground: .rgb(0x8F, 0x3F, 0x00), attributes: .bold): [
        .brand, .selectedBorder, .star, .notice, .heading,
      ],
      Style(attributes: [.bold, .reverse]): [.activeTab],
      Style(foreground: .rgb(0x87, 0x87, 0x87)): [.rule, .border],
      Style(attributes: .bold): [.title, .key],
      Style(foreground: .rgb(0x00, 0x5F, 0x87)): [.author, .code],
      Style(foreground: .rgb(0x58, 0x58, 0x58)): [.dim, .quote, .comment],
      Style(attributes: .reverse): [.selected],
      Style(foreground: .rgb(0xAF, 0x00, 0x00), attributes: .bold): [.failure, .bad],
      Style(foreground: .rgb(0x5F, 0x00, 0x87), attributes: .bold): [.question],
      Style(foreground: .rgb(0x00, 0x5F, 0x00)): [.good, .string],
      Style(foreground: .rgb(0x8F, 0x3F, 0x00)): [.waiting, .glow, .keyword],
      Style(foreground: .rgb(0x00, 0x5F, 0x87), attributes: [.bold, .underline]): [.match],
      Style(foreground: .rgb(0x5F, 0x00, 0x87)): [.link, .number],
    ]
  )

  /// No faint text, no colours that could be hard to read, and more underlines.
  package static let highContrast = Theme(
    name: "high-contrast",
    parts: [
      Style(attributes: [.bold, .underline]): [.brand, .key, .match],
      Style(attributes: [.bold, .reverse]): [.activeTab, .selected, .notice, .question, .bad],
      Style(attributes: .bold): [.selectedBorder, .title, .star, .good, .waiting, .glow, .keyword],
      Style(attributes: .underline): [.author, .link],
      Style(foreground: .white, background: .red, attributes: .bold): [.failure],
      Style.plain: [.code],
    ]
  )

  package static let mono = Theme(
    name: "mono",
    styles: dark.attributesOnly
  )

  /// The theme with its attributes only, without any colours.
  package var withoutColors: Theme {
    Theme(name: name, styles: attributesOnly)
  }

  private var attributesOnly: [Role: Style] {
    Dictionary(
      uniqueKeysWithValues: Role.allCases.map { role in
        var attributes = self[role].attributes
        // What only a ground sets off would be lost; but what arrives must not look selected.
        if self[role].background != .standard, role != .glow { attributes.insert(.reverse) }
        return (role, Style(attributes: attributes))
      }
    )
  }
}
