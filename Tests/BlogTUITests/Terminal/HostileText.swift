import TestSupport

/// Strings that have been used, or could be used, against terminal programs.
enum HostileText {
  /// Scalars that are not characters, which literals cannot contain.
  static let noncharacters = [0xFFFE, 0xFDD0, 0x10FFFF].compactMap { Unicode.Scalar($0 as UInt32) }
    .reduce(into: "") { $0.unicodeScalars.append($1) }

  static let corpus: [String] = [
    "", " ", "plain", "\u{1B}[31mred\u{1B}[0m", "\u{1B}]0;title\u{07}", "\u{1B}]52;c;AAAA\u{07}",
    "\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\", "\u{1B}[6n", "\u{1B}]unterminated",
    "\u{9B}31m", "\u{9D}0;t\u{9C}", "\u{90}q\u{9C}", "\u{85}next", "a\rb", "a\r\nb", "a\nb\n",
    "a\u{08}b", "a\tb\tc", "\u{00}\u{01}\u{1F}\u{7F}", "a\u{0B}b\u{0C}c",
    "\u{202E}evil\u{202C}", "\u{2066}a\u{2067}b\u{2068}c\u{2069}", "\u{200E}\u{200F}\u{061C}",
    "a\u{200B}b\u{200C}c\u{200D}d\u{FEFF}e\u{2060}f", "a\u{AD}b",
    "\u{3164}\u{115F}\u{1160}\u{FFA0}",
    "\u{180E}\u{034F}\u{17B4}\u{2061}\u{2064}", "\u{E0001}\u{E0041}\u{E007F}\u{E0100}",
    "e\u{301}", "\u{301}alone", "Z" + String(repeating: "\u{336}\u{30D}", count: 40),
    "👍🏽 👨‍👩‍👧 ❤️ 🅱️ 🇩🇪 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏽", "漢字 한글 かな １２", "\u{1112}\u{1161}\u{11AB}", "\u{1161}x",
    "שלום مرحبا", "नमस्ते ไทย ำ", "\u{1FABF}\u{1FAE8}", noncharacters, "\u{FFFD}",
    "\u{2028}\u{2029}", "\u{FFF9}a\u{FFFA}b\u{FFFB}", "\u{1D173}\u{13430}\u{110BD}\u{0600}1",
    "\u{E000}\u{F8FF}\u{F0000}", "\u{A0}\u{2003}\u{3000}", "a\u{20DD}\u{20E3}",
    "⟨RLO⟩", "␛[0m", "□◌⏎", "\u{200D}\u{200D}", "👍\u{200B}🏽\u{FE0F}🏽",
    String(repeating: "\n", count: 50), String(repeating: "漢", count: 50),
  ]

  /// A random string that consists mostly of problematic scalars.
  static func random(using generator: inout SplitMix64, length: Int) -> String {
    var view = String.UnicodeScalarView()
    let ranges: [ClosedRange<UInt32>] = [
      0x00...0x1F, 0x20...0x7F, 0x80...0x2FF, 0x300...0x36F, 0x590...0x6FF, 0x900...0x97F,
      0x1100...0x11FF, 0x2000...0x206F, 0x2500...0x25FF, 0x3000...0x30FF, 0xFE00...0xFFFF,
      0x1F1E6...0x1F1FF, 0x1F300...0x1FAFF, 0xE0000...0xE01FF, 0x0...0x10FFFF,
    ]
    for _ in 0..<length {
      let range = ranges[Int.random(in: 0..<ranges.count, using: &generator)]
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) {
        view.append(scalar)
      }
    }
    return String(view)
  }
}
