import BlogTUI

/// Text is harmless to a terminal, keeps its widths, and does not change when it is cleaned again.
enum TextCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let text = String(decoding: input, as: UTF8.self)
    for mode in [SafeText.Mode.singleLine, .multiLine] {
      for limit in [nil, 1, 5] {
        try check(SafeText(untrusted: text, mode: mode, limit: limit), mode, limit)
      }
    }
  }

  private static func check(
    _ text: SafeText,
    _ mode: SafeText.Mode,
    _ limit: Int?
  ) throws(BrokenProperty) {
    let again = SafeText(untrusted: text.string, mode: mode, limit: limit)
    try demand(again == text, "\(text.string.debugDescription) changes when it is cleaned again")
    try demand(
      text.clusters.allSatisfy(isHarmless)
        && text.string.unicodeScalars.allSatisfy {
          isHarmless($0) || joinsEmoji($0) || (mode == .multiLine && $0 == "\n")
        },
      "\(text.string.debugDescription) is not harmless"
    )
    try demand(
      text.width == text.clusters.reduce(0) { $0 + $1.width },
      "the widths of \(text.string.debugDescription) do not add up"
    )
    if let limit {
      try demand(text.clusters.count + text.lineBreaks.count <= limit, "the limit does not hold")
    }
    for width in [1, 2, 7, 80] {
      try checkLayout(text, width)
      try checkMarkup(text, width)
    }
    let forms = text.clusters.flatMap(\.asciiForms)
    let width = forms.reduce(0) { $0 + $1.width }
    try demand(width == text.width, "the ASCII forms change the width")
    try demand(forms.flatMap(\.text.utf8).allSatisfy { $0 < 0x7F }, "a form is not ASCII")
  }

  private static func checkLayout(_ text: SafeText, _ width: Int) throws(BrokenProperty) {
    try demand(
      text.wrapped(width: width).allSatisfy { $0.width <= width && $0.lineBreaks.isEmpty },
      "a line of \(text.string.debugDescription) is wider than \(width)"
    )
    try demand(text.truncated(to: width).width <= width, "a cut text is wider than \(width)")
  }

  /// Markup fits, and its parts follow each other within their line.
  private static func checkMarkup(_ text: SafeText, _ width: Int) throws(BrokenProperty) {
    for keepsMarks in [false, true] {
      let signs = Markup.Signs(.unicode, keepsMarks: keepsMarks)
      for line in Markup.lines(of: text, width: width, signs: signs) {
        try demand(line.text.width <= width, "marked text is wider than \(width)")
        try demand(
          line.text.clusters.allSatisfy(isHarmless),
          "the marked \(text.string.debugDescription) is not harmless"
        )
        var end = 0
        for part in line.parts {
          try demand(
            part.range.lowerBound >= end && part.range.upperBound <= line.text.clusters.count,
            "a part of the marked \(text.string.debugDescription) is out of place"
          )
          end = part.range.upperBound
        }
      }
    }
  }

  /// Whether nothing is invisible, apart from emoji joiners within the two cells of an emoji.
  private static func isHarmless(_ cluster: Cluster) -> Bool {
    let scalars = cluster.text.unicodeScalars
    let isEmoji = cluster.width == 2 && scalars.first?.properties.isEmoji == true
    return scalars.allSatisfy { isHarmless($0) || isEmoji && joinsEmoji($0) }
  }

  private static func joinsEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{200D}" || scalar == "\u{FE0F}"
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
      && !scalar.properties.isBidiControl && !scalar.properties.isDefaultIgnorableCodePoint
  }
}
