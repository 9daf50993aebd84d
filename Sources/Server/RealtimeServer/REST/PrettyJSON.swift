internal import RealtimeCore

/// Prints JSON for people: a member a line, two spaces for a level.
enum PrettyJSON {
  /// The text in UTF-8.
  ///
  /// - Complexity: O(size · depth)
  static func text(_ value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, indent: 0, to: &bytes)
    return bytes
  }

  private static func append(_ value: JSONValue, indent: Int, to bytes: inout [UInt8]) {
    switch value {
    case .array(let elements) where !elements.isEmpty:
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        beginLine(index, indent + 1, &bytes)
        append(element, indent: indent + 1, to: &bytes)
      }
      beginLine(0, indent, &bytes)
      bytes.append(UInt8(ascii: "]"))
    case .object(let members) where !members.isEmpty:
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        beginLine(index, indent + 1, &bytes)
        bytes += JSONValue.string(member.name).text.utf8
        bytes += ": ".utf8
        append(member.value, indent: indent + 1, to: &bytes)
      }
      beginLine(0, indent, &bytes)
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .integer, .double, .string, .array, .object: bytes += value.text.utf8
    }
  }

  /// Begins the line of an element, after a comma unless it is the first.
  private static func beginLine(_ index: Int, _ indent: Int, _ bytes: inout [UInt8]) {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * 2))
  }
}
