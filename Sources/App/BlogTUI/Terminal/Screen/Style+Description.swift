extension Style: CustomStringConvertible {
  private static let attributeNames: [(Attributes, String)] = [
    (.bold, "bold"), (.dim, "dim"), (.underline, "underline"), (.reverse, "reverse"),
  ]

  /// The style as theme files write it: `bold yellow on blue`; empty if there is nothing special.
  package var description: String {
    var words = Self.attributeNames.filter { attributes.contains($0.0) }.map(\.1)
    if foreground != .standard { words.append(foreground.description) }
    if background != .standard { words += ["on", background.description] }
    return words.joined(separator: " ")
  }

  /// Reads what ``description`` writes; nil if a word is neither an attribute nor a colour.
  package init?(description: String) {
    self.init()
    var isBackground = false
    for word in description.split(separator: " ") {
      if word == "on", !isBackground {
        isBackground = true
      } else if let attribute = Self.attributeNames.first(where: { $0.1 == word })?.0, !isBackground
      {
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
  private static let names: [(Color, String)] = [
    (.standard, "default"), (.black, "black"), (.red, "red"), (.green, "green"),
    (.yellow, "yellow"), (.blue, "blue"), (.magenta, "magenta"), (.cyan, "cyan"),
    (.white, "white"),
  ]

  /// The colour as theme files write it: a name, `214`, or `#ff8700`.
  package var description: String {
    if let name = Self.names.first(where: { $0.0 == self })?.1 { return name }
    switch self {
    case .indexed(let index): return String(index)
    case .rgb(let red, let green, let blue):
      return "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    case .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white: return ""
    }
  }

  /// Reads what ``description`` writes; nil if it is no colour.
  package init?(description: String) {
    if let color = Self.names.first(where: { $0.1 == description })?.0 {
      self = color
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
