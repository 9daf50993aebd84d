/// A colour as terminals know it: the terminal's default, a name, a palette index, or red, green
/// and blue.
package enum Color: Hashable, Sendable, Codable {
  case standard
  case black
  case red
  case green
  case yellow
  case blue
  case magenta
  case cyan
  /// White, in most terminals light grey.
  case white
  /// An entry of the 256-colour palette; terminals with fewer colours show the nearest basic one.
  case indexed(UInt8)
  /// Red, green and blue; terminals without such colours show the nearest one they have.
  case rgb(UInt8, UInt8, UInt8)
}

extension Color {
  /// The number of bits that represent a colour.
  static let bitCount: UInt64 = 26

  /// The kinds of colours that carry a value; all others are names.
  private static let indexedKind: UInt64 = 1 << 24
  private static let rgbKind: UInt64 = 2 << 24

  private static let named: [Color] = [
    .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white,
  ]

  /// The colour as a number; see ``init(bits:)``.
  var bits: UInt64 {
    switch self {
    case .standard: 0
    case .black: 1
    case .red: 2
    case .green: 3
    case .yellow: 4
    case .blue: 5
    case .magenta: 6
    case .cyan: 7
    case .white: 8
    case .indexed(let index): Self.indexedKind | UInt64(index)
    case .rgb(let red, let green, let blue):
      Self.rgbKind | UInt64(red) << 16 | UInt64(green) << 8 | UInt64(blue)
    }
  }

  /// The number of a basic colour, from 0 for black to 7 for white; nil for any other.
  var basicNumber: Int? {
    let number = Int(bits) - 1
    return (0..<8).contains(number) ? number : nil
  }

  /// Makes the colour of a number, whose higher bits are ignored.
  init(bits: UInt64) {
    let low = UInt8(truncatingIfNeeded: bits)
    switch bits & (3 << 24) {
    case Self.indexedKind: self = .indexed(low)
    case Self.rgbKind:
      let (red, green) = (bits >> 16, bits >> 8)
      self = .rgb(UInt8(truncatingIfNeeded: red), UInt8(truncatingIfNeeded: green), low)
    default: self = Int(low) < Self.named.count ? Self.named[Int(low)] : .standard
    }
  }
}

/// The colours and attributes of a cell.
package struct Style: Hashable, Sendable {
  /// The attributes that a cell can have in addition to its colours.
  package struct Attributes: OptionSet, Hashable, Sendable, Codable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let underline = Attributes(rawValue: 4)
    /// Foreground and background swapped.
    package static let reverse = Attributes(rawValue: 8)
  }

  /// The terminal's default colours without attributes.
  package static let plain = Style()

  private static let attributesShift: UInt64 = 2 * Color.bitCount
  private static let attributesMask: UInt8 = 15
  private static let linkShift: UInt64 = 56

  // The foreground, the background, the attributes and the link, from the lowest bit upwards:
  // thousands of cells are compared and copied for every key, and this makes each cell three words
  // without gaps.
  private var bits: UInt64

  /// Makes a style; parts that are left out have the terminal's default.
  package init(
    foreground: Color = .standard,
    background: Color = .standard,
    attributes: Attributes = []
  ) {
    bits =
      foreground.bits | background.bits << Color.bitCount
      | UInt64(attributes.rawValue & Self.attributesMask) << Self.attributesShift
  }

  package var foreground: Color {
    get { Color(bits: bits) }
    set { self = Style(foreground: newValue, background: background, attributes: attributes) }
  }

  package var background: Color {
    get { Color(bits: bits >> Color.bitCount) }
    set { self = Style(foreground: foreground, background: newValue, attributes: attributes) }
  }

  package var attributes: Attributes {
    get {
      let value = UInt8(truncatingIfNeeded: bits >> Self.attributesShift)
      return Attributes(rawValue: value & Self.attributesMask)
    }
    set { self = Style(foreground: foreground, background: background, attributes: newValue) }
  }

  /// The number of the link to which a cell belongs on its screen; 0 if it belongs to none.
  var link: UInt8 {
    get { UInt8(truncatingIfNeeded: bits >> Self.linkShift) }
    set { bits = bits & (1 << Self.linkShift - 1) | UInt64(newValue) << Self.linkShift }
  }

  package func with(_ attributes: Attributes) -> Style {
    var copy = self
    copy.attributes.formUnion(attributes)
    return copy
  }
}

extension Style.Attributes {
  /// Each attribute with its name in theme files and the parameter of the sequence that sets it
  /// (ECMA-48, SGR).
  private static let all: [(attribute: Self, name: String, code: String)] = [
    (.bold, "bold", "1"), (.dim, "dim", "2"), (.underline, "underline", "4"),
    (.reverse, "reverse", "7"),
  ]

  /// The parameters of the sequence that sets them.
  var codes: [String] { Self.all.filter { contains($0.attribute) }.map(\.code) }
  fileprivate var names: [String] { Self.all.filter { contains($0.attribute) }.map(\.name) }

  fileprivate init?(name: some StringProtocol) {
    guard let attribute = Self.all.first(where: { $0.name == name })?.attribute else { return nil }
    self = attribute
  }
}

extension Style: Codable {
  private struct Parts: Codable {
    let foreground: Color
    let background: Color
    let attributes: Attributes
  }

  /// Decodes a style, of which all three parts must be present.
  package init(from decoder: any Decoder) throws {
    let parts = try Parts(from: decoder)
    self.init(
      foreground: parts.foreground,
      background: parts.background,
      attributes: parts.attributes
    )
  }

  package func encode(to encoder: any Encoder) throws {
    let parts = Parts(foreground: foreground, background: background, attributes: attributes)
    try parts.encode(to: encoder)
  }
}

extension Style: CustomStringConvertible {
  /// The style as written in theme files, such as `bold yellow on blue`; empty for the plain style.
  package var description: String {
    var words = attributes.names
    if foreground != .standard { words.append(foreground.description) }
    if background != .standard { words += ["on", background.description] }
    return words.joined(separator: " ")
  }

  /// Reads the format of ``description``; nil if a word is neither an attribute nor a colour.
  package init?(description: String) {
    self.init()
    var isBackground = false
    for word in description.split(separator: " ") {
      if word == "on", !isBackground {
        isBackground = true
      } else if let attribute = Attributes(name: word), !isBackground {
        attributes.formUnion(attribute)
      } else if let color = Color(description: String(word)) {
        if isBackground { background = color } else { foreground = color }
      } else {
        return nil
      }
    }
    if isBackground, background == .standard { return nil }
  }
}

extension Color: CustomStringConvertible {
  /// The names of ``named``, in the same order.
  private static let names = [
    "default", "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
  ]

  /// The colour as written in theme files: a name, `214`, or `#ff8700`.
  package var description: String {
    switch self {
    case .indexed(let index): String(index)
    case .rgb(let red, let green, let blue):
      "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    case .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white:
      Self.names[Int(bits)]
    }
  }

  /// Reads the format of ``description``; nil if it is not a colour.
  package init?(description: String) {
    if let number = Self.names.firstIndex(of: description) {
      self = Self.named[number]
    } else if let index = UInt8(description) {
      self = .indexed(index)
    } else {
      guard description.hasPrefix("#"), description.utf8.count == 7,
        let value = UInt32(description.dropFirst(), radix: 16)
      else { return nil }
      self = .rgb(UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255))
    }
  }
}
