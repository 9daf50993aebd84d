/// The colours of a theme for terminals with shades.
///
/// Each is as 0xRRGGBB, and readable on both grounds: the contrast is at least 4.5 to 1, as WCAG 2
/// demands of text. The theme does not paint ``ground``, which is the terminal's.
struct Palette: Sendable {
  let name: String
  /// The background for which the colours are chosen.
  let ground: UInt32
  /// The background of the selected row.
  let selection: UInt32
  /// What matters less, and lines.
  let dim: UInt32
  let brand: UInt32
  let author: UInt32
  let star: UInt32
  let question: UInt32
  let good: UInt32
  let bad: UInt32

  /// The background of what has just arrived: the ground with a little of the brand's colour, as
  /// much as leaves all text readable.
  var glow: UInt32 {
    let isDark = (ground >> 8) & 0xFF < 0x80
    let percent: UInt32 = isDark ? 18 : 12
    return [16, 8, 0].reduce(0) { mixed, shift in
      let (from, to) = ((ground >> shift) & 0xFF, (brand >> shift) & 0xFF)
      return mixed | ((from * (100 - percent) + to * percent + 50) / 100) << shift
    }
  }

  /// The theme with these colours; text and titles have the terminal's own.
  var theme: Theme {
    func style(_ ink: UInt32, _ attributes: Style.Attributes = []) -> Style {
      Style(foreground: Self.color(ink), attributes: attributes)
    }
    return Theme(
      name: name,
      parts: [
        style(brand): [.keyword],
        style(brand, .bold): [.brand, .selectedBorder, .notice, .key, .heading],
        style(brand, [.bold, .underline]): [.match],
        Style(
          foreground: Self.color(ground),
          background: Self.color(brand),
          attributes: .bold
        ): [.activeTab],
        style(dim): [.tab, .rule, .border, .dim, .quote, .comment],
        Style(attributes: .bold): [.title],
        style(author): [.author, .code],
        style(star): [.waiting],
        style(star, .bold): [.star],
        style(question): [.link, .number],
        style(question, .bold): [.question],
        style(good): [.good, .string],
        style(bad, .bold): [.failure, .bad],
        Style(background: Self.color(selection)): [.selected],
        Style(background: Self.color(glow)): [.glow],
      ]
    )
  }

  private static func color(_ value: UInt32) -> Color {
    .rgb(
      UInt8(truncatingIfNeeded: value >> 16),
      UInt8(truncatingIfNeeded: value >> 8),
      UInt8(truncatingIfNeeded: value)
    )
  }
}

extension Palette {
  /// Embers on a dark hearth and the same by day; then the other dark ones, and the light ones.
  static let all = table.split(separator: "\n").map { Palette(row: $0) }

  /// A row for each: its name, and its colours in the order in which they are declared.
  private static let table = """
    ember       1A1512 3A2A20 B09A8A FF9E5E F2C9A0 FFC24B E8B4F0 A8CF7F FF8A80
    ember-light FBF6EF F1E2CF 75604F A34100 7D4A1E 8F5400 7A3E9D 3F6B1F B3261E
    forest      121A14 20352A 93AD9A 8FD694 B8DDB0 F2D06B C9C6F2 8FD694 FF9488
    ocean       0F1820 1B3245 8FA9BC 6EC6FF A5D8F3 FFD166 C8BFFF 7FD8BE FF9A92
    dusk        191724 332F4A A7A0C4 D3A6FF E6C7FF FFCB7D 9FD6F5 A3D9A5 FF9BAA
    rose        1E1418 402632 BFA0AB FF9DB5 FBC6D2 FFCF80 D5BCFF A9D7A0 FF9A8C
    slate       16191D 2C333C A0AAB6 9CC4E4 C8D3DE F0CB76 CDBDF0 9FD3A4 F79D9D
    amber       120D00 332400 C79A4B FFB000 FFC657 FFD27A FFE0A3 FFC657 FFE9C2
    phosphor    001200 06330F 57B869 4DFF7A 8CFFA6 B8FFC6 D6FFE0 4DFF7A E8FFEE
    paper       FFFFFF E8E8E8 5F5F5F 00539C 3D4C5E 7F5300 6A3FA0 1E6B34 B3201A
    mint        F1FAF4 D5EEDD 4E6757 00694A 2B5F75 775500 64489F 1B6B35 AD2430
    sky         F2F8FD D5E7F6 506273 0A5A9E 2F5A80 7D5200 6347A3 1C6A40 AF2532
    """

  /// Reads a row of the table; it is a programmer error if a colour is missing.
  private init(row: Substring) {
    let words = row.split(separator: " ")
    let colors = words.dropFirst().compactMap { UInt32($0, radix: 16) }
    name = String(words[0])
    (ground, selection, dim) = (colors[0], colors[1], colors[2])
    (brand, author, star) = (colors[3], colors[4], colors[5])
    (question, good, bad) = (colors[6], colors[7], colors[8])
  }
}

extension Theme {
  package static let ember = Palette.all[0].theme
  package static let emberLight = Palette.all[1].theme
}
