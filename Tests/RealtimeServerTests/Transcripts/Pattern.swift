import RealtimeCore

/// JSON that may leave parts open.
///
/// In a pattern the string `"<any>"` matches anything, `"<text>"` a text, `"<id>"` a text of 32
/// letters and digits, and `"<NAME>"` the value it matched before; its first match may be any value.
/// Within a longer string, a known `<NAME>` stands for its value.
struct Pattern {
  /// The values of the names, as JSON.
  private(set) var names: [String: JSONValue] = [:]

  mutating func define(_ name: String, as value: JSONValue) { names[name] = value }

  /// The text with its names replaced by their values.
  func filled(_ text: String) -> String {
    var text = text
    for (name, value) in names {
      text = text.replacing("<\(name)>", with: value.string ?? value.text)
    }
    return text
  }

  /// Whether a text matches a pattern; text that is not JSON must be equal.
  ///
  /// If the pattern is partial, objects may have other members as well.
  mutating func matches(_ pattern: String, _ text: String, isPartial: Bool = false) -> Bool {
    guard let pattern = try? JSONParser.parse(pattern) else { return filled(pattern) == text }
    guard let value = try? JSONParser.parse(text) else { return false }
    return matches(pattern, value, isPartial)
  }

  /// Whether a header value matches a pattern: a text, or a name for one.
  mutating func matches(header pattern: String, _ text: String) -> Bool {
    guard pattern.hasPrefix("<"), pattern.hasSuffix(">") else { return filled(pattern) == text }
    return matches(name: String(pattern.dropFirst().dropLast()), .string(text))
  }

  private mutating func matches(
    _ pattern: JSONValue,
    _ value: JSONValue,
    _ isPartial: Bool
  ) -> Bool {
    switch pattern {
    case .string(let text) where text.hasPrefix("<") && text.hasSuffix(">"):
      return matches(name: String(text.dropFirst().dropLast()), value)
    case .object(let members):
      guard let others = value.members, isPartial || others.count == members.count else {
        return false
      }
      for member in members {
        guard let other = value[filled(member.name)], matches(member.value, other, isPartial) else {
          return false
        }
      }
      return true
    case .array(let elements):
      guard let others = value.elements, others.count == elements.count else { return false }
      for (element, other) in zip(elements, others) where !matches(element, other, isPartial) {
        return false
      }
      return true
    case .string(let text): return .string(filled(text)) == value
    case .null, .bool, .integer, .double: return pattern == value
    }
  }

  private mutating func matches(name: String, _ value: JSONValue) -> Bool {
    switch name {
    case "any": return true
    case "text": return value.string?.isEmpty == false
    case "id": return value.string?.wholeMatch(of: /[A-Za-z0-9]{32}/) != nil
    default:
      if let known = names[name] { return known == value }
      names[name] = value
      return true
    }
  }
}
