/// The colours and attributes of a cell.
package struct Style: Hashable, Sendable, Codable {
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

  /// The colour of the letters.
  package var foreground: Color
  /// The colour behind the letters.
  package var background: Color
  /// Bold, dim, underline and reverse.
  package var attributes: Attributes

  /// Makes a style; everything left out is the terminal's default.
  package init(
    foreground: Color = .standard,
    background: Color = .standard,
    attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// The same style with more attributes.
  package func with(_ attributes: Attributes) -> Style {
    var copy = self
    copy.attributes.formUnion(attributes)
    return copy
  }
}
