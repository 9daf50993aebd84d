internal import RealtimeCore

/// Keys that are made from text from outside the program.
///
/// ```swift
/// let visitor = "ann@example.org"
/// let user = database.reference(withPath: "users").child(Database.escapedKey(visitor))
/// ```
extension Database {
  /// Whether text can be a key.
  ///
  /// A key has 1 to 768 bytes, and contains neither `.`, `#`, `$`, `[`, `]` and `/` nor control
  /// characters.
  public static func isValidKey(_ text: String) -> Bool {
    Validation.problem(withKey: text) == nil
  }

  /// A key for any text; ``unescapedKey(_:)`` returns the text.
  ///
  /// What a key cannot contain, and `%`, become `%` and two hexadecimal digits; the empty text
  /// becomes `%`. Different texts have different keys. Only a text that is too long has none: its
  /// result is not a valid key.
  public static func escapedKey(_ text: String) -> String {
    if text.isEmpty { return "%" }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      let isPlain = byte != percent && (byte >= 0x80 || isValidKey(String(UnicodeScalar(byte))))
      bytes += isPlain ? [byte] : [percent, digit(byte >> 4), digit(byte & 0xF)]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that ``escapedKey(_:)`` made a key from; other keys may return as they are.
  public static func unescapedKey(_ key: String) -> String {
    if key == "%" { return "" }
    var bytes: [UInt8] = []
    var rest = Array(key.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == percent, digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let escaped = UInt8(digits, radix: 16)
      {
        bytes.append(escaped)
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let percent = UInt8(ascii: "%")

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

extension Path {
  /// Reads a path that text from outside the program is part of.
  ///
  /// An empty key is refused: in `users/\(id)/name`, an empty `id` would lead to another location.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data`.
  init(validating text: String) throws(DatabaseError) {
    let path = Path(wire: text)
    let keys = (text.hasPrefix("/") ? text.dropFirst() : text[...])
      .split(separator: "/", omittingEmptySubsequences: false)
    let problem = keys.contains("") ? "a key cannot be empty" : Validation.problem(withPath: path)
    if let problem {
      throw .invalid("\"\(text)\" is not a valid path: \(problem)")
    }
    self = path
  }
}
