import CNcurses
private import Foundation

/// The escape sequence that copies text to the clipboard of the terminal, even over a remote
/// session.
///
/// It only ever writes: the program has no reason to read the clipboard.
enum Clipboard {
  /// The number of bytes that terminals reliably accept.
  static let limit = 74_994

  /// Makes the sequence; nil if the text is too long.
  ///
  /// GNU `screen` passes on only sequences that are wrapped for it.
  static func sequence(_ text: String, isInScreen: Bool) -> [UInt8]? {
    let bytes = Array(text.utf8)
    guard bytes.count <= limit else { return nil }
    let inner = Array("\u{1B}]52;c;".utf8) + base64(bytes) + [0x07]
    guard isInScreen else { return inner }
    return Array("\u{1B}P".utf8) + inner + Array("\u{1B}\\".utf8)
  }

  static func base64(_ bytes: [UInt8]) -> [UInt8] {
    Array(Data(bytes).base64EncodedData())
  }
}

extension NcursesTerminal {
  /// Rings the bell, and shows a desktop notification if the terminal supports it.
  ///
  /// The sequence is that of rxvt, or else that of iTerm2, which several terminals have adopted;
  /// others ignore it.
  package func notify(_ text: String) {
    bell()
    guard isOpen, nc_is_ansi() != 0 else { return }
    writeDirectly(Self.notification(SafeText(untrusted: text), on: Self.environment("TERM") ?? ""))
  }

  /// The sequence that shows a notification on the given type of terminal.
  static func notification(_ text: SafeText, on type: String) -> String {
    let isRxvt = type.hasPrefix("rxvt")
    return "\u{1B}]" + (isRxvt ? "777;notify;Hearth;" : "9;") + text.string + "\u{07}"
  }
}
