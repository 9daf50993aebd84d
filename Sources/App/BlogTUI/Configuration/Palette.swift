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

  /// The colours of text.
  var inks: [UInt32] { [dim, brand, author, star, question, good, bad] }

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
      styles: [
        .brand: style(brand, .bold),
        .activeTab: Style(
          foreground: Self.color(ground),
          background: Self.color(brand),
          attributes: .bold
        ),
        .tab: style(dim),
        .rule: style(dim),
        .border: style(dim),
        .selectedBorder: style(brand, .bold),
        .title: Style(attributes: .bold),
        .author: style(author),
        .dim: style(dim),
        .star: style(star, .bold),
        .selected: Style(background: Self.color(selection)),
        .notice: style(brand, .bold),
        .failure: style(bad, .bold),
        .question: style(question, .bold),
        .key: style(brand, .bold),
        .good: style(good),
        .waiting: style(star),
        .bad: style(bad, .bold),
        .match: style(brand, [.bold, .underline]),
        .glow: Style(background: Self.color(glow)),
        .heading: style(brand, .bold),
        .quote: style(dim),
        .link: style(question),
        .code: style(author),
        .keyword: style(brand),
        .string: style(good),
        .number: style(question),
        .comment: style(dim),
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

extension Theme {
  /// Embers on a dark hearth.
  package static let ember = Palette.ember.theme
  /// The same by day.
  package static let emberLight = Palette.emberLight.theme
}

extension Palette {
  static let ember = Palette(
    name: "ember",
    ground: 0x1A1512,
    selection: 0x3A2A20,
    dim: 0xB09A8A,
    brand: 0xFF9E5E,
    author: 0xF2C9A0,
    star: 0xFFC24B,
    question: 0xE8B4F0,
    good: 0xA8CF7F,
    bad: 0xFF8A80
  )
  static let emberLight = Palette(
    name: "ember-light",
    ground: 0xFBF6EF,
    selection: 0xF1E2CF,
    dim: 0x75604F,
    brand: 0xA34100,
    author: 0x7D4A1E,
    star: 0x8F5400,
    question: 0x7A3E9D,
    good: 0x3F6B1F,
    bad: 0xB3261E
  )

  /// All but the default ones: the dark ones, then the light ones.
  static let others = [
    Palette(
      name: "forest",
      ground: 0x121A14,
      selection: 0x20352A,
      dim: 0x93AD9A,
      brand: 0x8FD694,
      author: 0xB8DDB0,
      star: 0xF2D06B,
      question: 0xC9C6F2,
      good: 0x8FD694,
      bad: 0xFF9488
    ),
    Palette(
      name: "ocean",
      ground: 0x0F1820,
      selection: 0x1B3245,
      dim: 0x8FA9BC,
      brand: 0x6EC6FF,
      author: 0xA5D8F3,
      star: 0xFFD166,
      question: 0xC8BFFF,
      good: 0x7FD8BE,
      bad: 0xFF9A92
    ),
    Palette(
      name: "dusk",
      ground: 0x191724,
      selection: 0x332F4A,
      dim: 0xA7A0C4,
      brand: 0xD3A6FF,
      author: 0xE6C7FF,
      star: 0xFFCB7D,
      question: 0x9FD6F5,
      good: 0xA3D9A5,
      bad: 0xFF9BAA
    ),
    Palette(
      name: "rose",
      ground: 0x1E1418,
      selection: 0x402632,
      dim: 0xBFA0AB,
      brand: 0xFF9DB5,
      author: 0xFBC6D2,
      star: 0xFFCF80,
      question: 0xD5BCFF,
      good: 0xA9D7A0,
      bad: 0xFF9A8C
    ),
    Palette(
      name: "slate",
      ground: 0x16191D,
      selection: 0x2C333C,
      dim: 0xA0AAB6,
      brand: 0x9CC4E4,
      author: 0xC8D3DE,
      star: 0xF0CB76,
      question: 0xCDBDF0,
      good: 0x9FD3A4,
      bad: 0xF79D9D
    ),
    Palette(
      name: "amber",
      ground: 0x120D00,
      selection: 0x332400,
      dim: 0xC79A4B,
      brand: 0xFFB000,
      author: 0xFFC657,
      star: 0xFFD27A,
      question: 0xFFE0A3,
      good: 0xFFC657,
      bad: 0xFFE9C2
    ),
    Palette(
      name: "phosphor",
      ground: 0x001200,
      selection: 0x06330F,
      dim: 0x57B869,
      brand: 0x4DFF7A,
      author: 0x8CFFA6,
      star: 0xB8FFC6,
      question: 0xD6FFE0,
      good: 0x4DFF7A,
      bad: 0xE8FFEE
    ),
    Palette(
      name: "paper",
      ground: 0xFFFFFF,
      selection: 0xE8E8E8,
      dim: 0x5F5F5F,
      brand: 0x00539C,
      author: 0x3D4C5E,
      star: 0x7F5300,
      question: 0x6A3FA0,
      good: 0x1E6B34,
      bad: 0xB3201A
    ),
    Palette(
      name: "mint",
      ground: 0xF1FAF4,
      selection: 0xD5EEDD,
      dim: 0x4E6757,
      brand: 0x00694A,
      author: 0x2B5F75,
      star: 0x775500,
      question: 0x64489F,
      good: 0x1B6B35,
      bad: 0xAD2430
    ),
    Palette(
      name: "sky",
      ground: 0xF2F8FD,
      selection: 0xD5E7F6,
      dim: 0x506273,
      brand: 0x0A5A9E,
      author: 0x2F5A80,
      star: 0x7D5200,
      question: 0x6347A3,
      good: 0x1C6A40,
      bad: 0xAF2532
    ),
  ]
}
