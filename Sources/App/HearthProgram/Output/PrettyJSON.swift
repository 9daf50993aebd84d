package import RealtimeCore

/// JSON with a member a line, for people.
package enum PrettyJSON {
  /// The text of a value, indented by two spaces a level.
  package static func text(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .null, .bool, .integer, .double, .string: return value.text
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      let lines = elements.map { inner + text($0, indent: inner) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map {
        inner + JSONValue.string($0.name).text + ": " + text($0.value, indent: inner)
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    }
  }
}
