/// The colours and attributes of a cell.
package struct Style: Hashable, Sendable {
  /// The attributes that a cell can have beside its colours.
  package struct Attributes: OptionSet, Hashable, Sendable, Codable {
    /// The bits of the set.
    package let rawValue: UInt8

    /// Makes the set of the given bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Heavy or bright letters.
    package static let bold = Attributes(rawValue: 1)
    /// Faint letters.
    package static let dim = Attributes(rawValue: 2)
    /// A line below the letters.
    package static let underline = Attributes(rawValue: 4)
    /// Foreground and background exchanged.
    package static let reverse = Attributes(rawValue: 8)
  }

  /// The terminal's own colours without attributes.
  package static let plain = Style()

  private static let attributesShift: UInt64 = 2 * Color.bitCount

  // The foreground, the background and the attributes, from the lowest bit on: cells are compared and
  // copied by the thousand for every key, and this way each is three words without gaps.
  private var bits: UInt64

  /// Makes a style; everything left out is the terminal's default.
  package init(
    foreground: Color = .standard,
    background: Color = .standard,
    attributes: Attributes = []
  ) {
    bits =
      foreground.bits | background.bits << Color.bitCount
      | UInt64(attributes.rawValue) << Self.attributesShift
  }

  /// The colour of the letters.
  package var foreground: Color {
    get { Color(bits: bits) }
    set { self = Style(foreground: newValue, background: background, attributes: attributes) }
  }

  /// The colour behind the letters.
  package var background: Color {
    get { Color(bits: bits >> Color.bitCount) }
    set { self = Style(foreground: foreground, background: newValue, attributes: attributes) }
  }

  /// Bold, dim, underline and reverse.
  package var attributes: Attributes {
    get { Attributes(rawValue: UInt8(truncatingIfNeeded: bits >> Self.attributesShift)) }
    set { self = Style(foreground: foreground, background: background, attributes: newValue) }
  }

  /// The same style with more attributes.
  package func with(_ attributes: Attributes) -> Style {
    var copy = self
    copy.attributes.formUnion(attributes)
    return copy
  }
}

extension Style: Codable {
  private enum CodingKeys: String, CodingKey {
    case foreground
    case background
    case attributes
  }

  /// Reads a style that names all three parts.
  package init(from decoder: any Decoder) throws {
    let parts = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      foreground: try parts.decode(Color.self, forKey: .foreground),
      background: try parts.decode(Color.self, forKey: .background),
      attributes: try parts.decode(Attributes.self, forKey: .attributes)
    )
  }

  /// Writes all three parts under their names.
  package func encode(to encoder: any Encoder) throws {
    var parts = encoder.container(keyedBy: CodingKeys.self)
    try parts.encode(foreground, forKey: .foreground)
    try parts.encode(background, forKey: .background)
    try parts.encode(attributes, forKey: .attributes)
  }
}
