/// JSON with a member on each line, for people; text that is cut off is indented as far as it goes.
enum IndentedJSON {
  /// The longest array or object that stays on one line.
  private static let shortLength = 48

  /// A line of details: a name and a colon may stand before the JSON.
  ///
  /// - Complexity: O(n) in the length of the text
  static func lines(of detail: String) -> [String] {
    guard let start = detail.firstIndex(where: { $0 == "{" || $0 == "[" }) else { return [detail] }
    let name = detail[..<start]
    // A bracket within words is no JSON.
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

  /// The end of the string that begins there, behind its quote.
  private static func endOfString(_ text: [Character], from start: Int) -> Int {
    var index = start + 1
    while index < text.count, text[index] != "\"" { index += text[index] == "\\" ? 2 : 1 }
    return min(text.count, index + 1)
  }

  /// The end of an array or object that begins there, if it is empty or short and has no other in it.
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
