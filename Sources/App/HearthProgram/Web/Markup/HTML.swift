internal import RealtimeCore

/// A piece of HTML or XML.
///
/// The types ensure that markup comes only from the source code: text from run time is always
/// escaped, and stripped of characters that neither format allows or that would reorder the lines
/// around it. Combining marks that would pile up over those lines are left out, too.
struct HTML: Sendable {
  /// The number of combining marks that are kept in a row; no script needs more.
  private static let longestPile = 8

  private(set) var text = ""
  private var pile = 0

  /// Appends markup that is written in the source code.
  mutating func tag(_ markup: StaticString) {
    text += markup.description
  }

  /// Appends text, escaped.
  mutating func put(_ content: String) {
    for scalar in content.unicodeScalars { put(scalar) }
  }

  /// Appends an element without content, with attributes whose values are escaped.
  mutating func void(_ name: StaticString, attributes: KeyValuePairs<StaticString, String>) {
    start(name, attributes: attributes)
    text += "/>"
  }

  /// Appends an element with text content, and attributes like those of ``void(_:attributes:)``.
  mutating func element(
    _ name: StaticString,
    attributes: KeyValuePairs<StaticString, String> = [:],
    content: String
  ) {
    start(name, attributes: attributes)
    text += ">"
    put(content)
    text += "</\(name)>"
  }

  private mutating func start(
    _ name: StaticString,
    attributes: KeyValuePairs<StaticString, String>
  ) {
    text += "<\(name)"
    for (name, value) in attributes {
      text += " \(name)=\""
      put(value)
      text += "\""
    }
  }

  /// Appends another piece unchanged.
  mutating func append(_ piece: HTML) {
    text += piece.text
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    pile = PlainText.isMark(scalar) ? pile + 1 : 0
    guard pile <= Self.longestPile else { return }
    switch scalar {
    case "&": text += "&amp;"
    case "<": text += "&lt;"
    case ">": text += "&gt;"
    case "\"": text += "&quot;"
    case "'": text += "&#39;"
    default: if PlainText.isShown(scalar) { text.unicodeScalars.append(scalar) }
    }
  }
}

/// Cleans up other people's text before it is shown.
enum PlainText {
  /// Whether a character may appear on a page: no control characters, nothing that changes the
  /// direction of the text around it, and nothing that XML forbids.
  static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: true
    case 0..<0x20, 0x7F..<0xA0: false
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
    case 0x2028, 0x2029, 0xFEFF, 0xFDD0...0xFDEF: false
    case let value: value & 0xFFFE != 0xFFFE
    }
  }

  /// Whether a character is drawn over, under or around the one before it.
  static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return false }
    return switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  /// The beginning of a text, without line breaks and repeated spaces.
  ///
  /// - Complexity: O(limit), since runs of spaces are scanned only so far.
  static func line(_ text: String, limit: Int) -> String {
    var line = ""
    var count = 0
    var isAfterSpace = true
    // A text that is nothing but spaces must not be scanned to its end.
    for character in text.prefix(limit * 4) {
      let isSpace = character.isWhitespace
      if isSpace, isAfterSpace { continue }
      guard count < limit else {
        while line.last == " " { line.removeLast() }
        return line + "…"
      }
      line.append(isSpace ? " " : character)
      isAfterSpace = isSpace
      count += 1
    }
    if line.last == " " { line.removeLast() }
    return line
  }

  /// A text escaped for use as one part of a URL's path or query, or of a tag URI.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      if byte.isAlphanumeric || "-_~".utf8.contains(byte) {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        escaped += digits.count < 2 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return escaped
  }
}
