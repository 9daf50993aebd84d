import CNcurses

/// The escape sequence that copies text to the clipboard of the terminal, even over a remote
/// session.
///
/// It only ever writes: the program has no reason to read the clipboard.
enum Clipboard {
  /// The number of bytes that terminals reliably accept.
  static let limit = 74_994

  /// Makes the sequence.
  ///
  /// - Parameters:
  ///   - text: The text to copy.
  ///   - isInScreen: Whether GNU `screen` is in between, which passes on only sequences wrapped for
  ///     it.
  /// - Returns: The bytes to write; nil if the text is too long.
  static func sequence(_ text: String, isInScreen: Bool) -> [UInt8]? {
    let bytes = Array(text.utf8)
    guard bytes.count <= limit else { return nil }
    let inner = Array("\u{1B}]52;c;".utf8) + base64(bytes) + [0x07]
    guard isInScreen else { return inner }
    return Array("\u{1B}P".utf8) + inner + Array("\u{1B}\\".utf8)
  }

  static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let value = (0..<3).reduce(UInt32(0)) { value, offset in
        value << 8 | (start + offset < group.endIndex ? UInt32(bytes[start + offset]) : 0)
      }
      for digit in 0..<4 {
        let index = Int(value >> UInt32(18 - 6 * digit) & 63)
        result.append(digit <= group.count ? letters[index] : UInt8(ascii: "="))
      }
    }
    return result
  }
}

extension NcursesTerminal {
  /// Rings the bell, and shows a desktop notification if the terminal supports it.
  ///
  /// The sequence is that of rxvt, or else that of iTerm2, which several terminals have adopted;
  /// others ignore it.
  package func notify(_ text: SafeText) {
    bell()
    guard isOpen, nc_is_ansi() != 0 else { return }
    writeDirectly(Self.notification(text, on: Self.environment("TERM") ?? ""))
  }

  /// The sequence that shows a notification on the given type of terminal.
  static func notification(_ text: SafeText, on type: String) -> String {
    let isRxvt = type.hasPrefix("rxvt")
    return "\u{1B}]" + (isRxvt ? "777;notify;Hearth;" : "9;") + text.string + "\u{07}"
  }
}
