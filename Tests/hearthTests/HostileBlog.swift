import Foundation

/// A blog whose texts try to manipulate the terminal.
enum HostileBlog {
  /// Texts that have been used, or could be used, against terminal programs.
  static let texts: [String] = [
    "\u{1B}[31mred\u{1B}[0m", "\u{1B}[2J\u{1B}[H", "\u{1B}]0;title\u{07}", "\u{1B}]52;c;AAAA\u{07}",
    "\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\", "\u{1B}[6n", "\u{1B}]unterminated",
    "\u{1B}c\u{1B}(0lqqk", "\u{9B}31m", "\u{9D}0;t\u{9C}", "\u{90}q\u{9C}", "\u{85}next",
    "a\rb", "a\u{08}\u{08}b", "a\tb\tc", "\u{01}\u{0E}\u{1F}\u{7F}", "a\u{0B}b\u{0C}c",
    "\u{202E}evil\u{202C}", "\u{2066}a\u{2067}b\u{2068}c\u{2069}", "\u{200E}\u{200F}\u{061C}",
    "a\u{200B}b\u{200C}c\u{200D}d\u{FEFF}e\u{2060}f", "a\u{AD}b",
    "\u{3164}\u{115F}\u{1160}\u{FFA0}x",
    "\u{180E}\u{034F}\u{17B4}\u{2061}x", "\u{E0001}\u{E0041}\u{E007F}x", "e\u{301} \u{301}alone",
    "Z" + String(repeating: "\u{336}\u{30D}", count: 40), "👍🏽 👨‍👩‍👧 ❤️ 🅱️ 🇩🇪 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "漢字 한글 かな １２",
    "\u{1112}\u{1161}\u{11AB}", "שלום مرحبا", "नमस्ते ไทย ำ", "\u{1FABF}\u{1FAE8}", "\u{FFFD}\u{FFFE}",
    "\u{2028}\u{2029}", "\u{FFF9}a\u{FFFA}b", "\u{1D173}\u{13430}\u{0600}1", "\u{E000}\u{F8FF}",
    "\u{A0}\u{2003}\u{3000}x", "a\u{20DD}\u{20E3}", "␛[0m", String(repeating: "漢", count: 120),
    String(repeating: "W", count: 200),
  ]

  /// All texts, one per line.
  static let everything = texts.joined(separator: "\n")

  /// The key of a post; the newest has the highest number.
  static func key(_ number: Int) -> String { "-NjFzz\(10 + number)AAAAAAAAAAAA" }

  /// The key of a comment on the newest post.
  private static func comment(_ number: Int) -> String { "-NjG00\(10 + number)AAAAAAAAAAAA" }

  /// The data: a post for each text, comments, people and users who are typing.
  static func json(now: Date) throws -> Data {
    var posts: [String: Any] = [:]
    var comments: [String: Any] = [:]
    var addressed: [String: String] = [:]
    var typing: [String: Any] = [:]
    var present: [String: Any] = [:]
    for (number, text) in texts.enumerated() {
      posts[key(number)] = [
        "uid": "mallory", "author": texts[(number + 7) % texts.count], "title": text,
        "body": text + "\n" + everything, "starCount": 0,
      ]
      // Each answers the previous one and mentions alice, who finds all of them in her notices.
      comments[comment(number)] = [
        "uid": "mallory", "author": text, "text": texts[(number + 3) % texts.count] + " @alice",
        "parent": comment(number - 1),
      ]
      addressed[comment(number)] = key(texts.count - 1)
      present["t\(number)"] = ["name": text, "terminal": text, "since": 1_700_000_000_000]
      // In a few minutes it still counts as recent.
      let time = Int((now.timeIntervalSince1970 + 600) * 1_000)
      typing["u\(number)"] = ["name": text, "at": time]
    }
    let newest = key(texts.count - 1)
    return try JSONSerialization.data(withJSONObject: [
      "posts": posts, "user-posts": ["mallory": posts], "post-comments": [newest: comments],
      "presence": ["mallory": present], "typing": [newest: typing],
      "mentions": ["alice": addressed], "replies": ["alice": addressed],
    ])
  }
}
