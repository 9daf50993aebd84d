/// Formats JSON for people, one member on each line; handles text that is cut off as well.
enum IndentedJSON {
  /// The longest array or object that stays on one line.
  private static let shortLength = 48

  /// Formats a line of details, in which a name and a colon may precede the JSON.
  ///
  /// - Complexity: O(n) in the length of the text
  static func lines(of detail: String) -> [String] {
    guard let start = detail.firstIndex(where: { $0 == "{" || $0 == "[" }) else { return [detail] }
    let name = detail[..<start]
    // A bracket within words does not begin JSON.
    guard name.isEmpty || name.hasSuffix(": ") else { return [detail] }
    return lines(Array(detail[start...]), after: String(name))
  }

  private static func lines(_ text: [Character], after name: String) -> [String] {
    var lines: [String] = []
    var line = name
    var depth = 0
    var index = 0
    func indent() -> String { String(repeating: "  ", count: depth) }
    while index < text.count {
      let character = text[index]
      switch character {
      case "\"":
        let end = endOfString(text, from: index)
        line += String(text[index..<end])
        index = end
        continue
      case "{", "[":
        if let end = endOfShort(text, from: index) {
          line += String(text[index..<end])
          index = end
          continue
        }
        depth += 1
        lines.append(line + String(character))
        line = indent()
      case "}", "]":
        depth = max(0, depth - 1)
        if line.contains(where: { $0 != " " }) { lines.append(line) }
        line = indent() + String(character)
      case ",":
        lines.append(line + ",")
        line = indent()
      case ":": line += ": "
      default: line.append(character)
      }
      index += 1
    }
    return line.contains { $0 != " " } ? lines + [line] : lines
  }

  /// The index after the closing quote of the string that begins at an index.
  private static func endOfString(_ text: [Character], from start: Int) -> Int {
    var index = start + 1
    while index < text.count, text[index] != "\"" { index += text[index] == "\\" ? 2 : 1 }
    return min(text.count, index + 1)
  }

  /// The end of the array or object at an index, if it is short and contains no other.
  private static func endOfShort(_ text: [Character], from start: Int) -> Int? {
    var index = start + 1
    while index < min(text.count, start + shortLength) {
      switch text[index] {
      case "}", "]": return index + 1
      case "{", "[": return nil
      case "\"": index = endOfString(text, from: index)
      default: index += 1
      }
    }
    return nil
  }
}
