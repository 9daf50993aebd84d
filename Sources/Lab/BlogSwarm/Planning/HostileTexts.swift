/// Texts that are made to break screens: what a post of an ill-meaning person may contain.
package enum HostileTexts {
  /// Texts that the rules of a blog let in.
  package static let permitted: [String] = [
    "\u{202E}gnihton si siht\u{202C} reversed",
    "isolate \u{2066}left\u{2069} \u{2067}right\u{2069}",
    "zero\u{200B}width\u{200D}joiner\u{FEFF}mark",
    "tags \u{E0001}\u{E0041}\u{E007F} unseen",
    "filler \u{3164}\u{115F}\u{FFA0}",
    "e" + String(repeating: "\u{0301}", count: 200),
    "👩‍👩‍👧‍👦👍🏽🏴‍☠️ family",
    "wide 中文字符 and 한국어",
    "line \u{2028} separator \u{2029} here",
    "\"quotes\" \\ 'and' <b>tags</b> & %s %n $(reboot) `ls`",
    String(repeating: "long ", count: 1_000),
    "مرحبا بالعالم שלום עולם",
  ]

  /// Texts that only an administrator or another server can put there.
  package static let forbidden: [String] = [
    "\u{1B}[2J\u{1B}[H cleared",
    "\u{1B}]0;title\u{07} and \u{1B}]52;c;ZXZpbA==\u{07}",
    "\u{9B}31m eight bit \u{9D}0;x\u{9C}",
    "author\rforged",
    "back\u{08}\u{08}\u{08}\u{08}space",
    "nul\u{0}byte",
    "tab\tand\u{0B}vertical\u{0C}feed",
    "\u{1B}[6n\u{1B}[c answer",
    "\u{1B}P+q544e\u{1B}\\ device",
    "shift \u{0E}\u{0F} out",
  ]
}
