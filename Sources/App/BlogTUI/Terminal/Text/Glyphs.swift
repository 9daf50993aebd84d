/// The characters that a terminal can show.
package enum CharacterRepertoire: Hashable, Sendable {
  /// Everything that the width table knows.
  case unicode
  /// The 95 printable characters of ASCII.
  case ascii
}

/// The signs of the program's own chrome, in a form that the terminal can show.
package struct GlyphSet: Hashable, Sendable {
  /// Signs for terminals that show Unicode.
  package static let unicode = GlyphSet(
    repertoire: .unicode,
    star: "★",
    emptyStar: "☆",
    comment: "❝",
    bullet: "•",
    ellipsis: "…",
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
    selection: "▌",
    separator: "·",
    check: "✓",
    cross: "✗",
    pending: "◌",
    online: "●",
    offline: "○",
    unsure: "◐",
    horizontal: "─",
    vertical: "│",
    topLeft: "┌",
    topRight: "┐",
    bottomLeft: "└",
    bottomRight: "┘",
    scrollThumb: "█"
  )

  /// Signs for terminals that show ASCII only.
  package static let ascii = GlyphSet(
    repertoire: .ascii,
    star: "*",
    emptyStar: "-",
    comment: "\"",
    bullet: "*",
    ellipsis: "...",
    up: "^",
    down: "v",
    left: "<",
    right: ">",
    selection: ">",
    separator: "-",
    check: "+",
    cross: "x",
    pending: ".",
    online: "+",
    offline: "-",
    unsure: "?",
    horizontal: "-",
    vertical: "|",
    topLeft: "+",
    topRight: "+",
    bottomLeft: "+",
    bottomRight: "+",
    scrollThumb: "#"
  )

  /// The signs for a terminal with that repertoire.
  package static func of(_ repertoire: CharacterRepertoire) -> GlyphSet {
    switch repertoire {
    case .unicode: .unicode
    case .ascii: .ascii
    }
  }

  /// The characters that all the signs are made of.
  package let repertoire: CharacterRepertoire
  /// A star that was given.
  package let star: SafeText
  /// A star that was not given.
  package let emptyStar: SafeText
  /// Before a number of comments.
  package let comment: SafeText
  /// The start of an item in a list.
  package let bullet: SafeText
  /// The end of something cut.
  package let ellipsis: SafeText
  /// An arrow upwards.
  package let up: SafeText
  /// An arrow downwards.
  package let down: SafeText
  /// An arrow to the left.
  package let left: SafeText
  /// An arrow to the right.
  package let right: SafeText
  /// The mark before the selected row.
  package let selection: SafeText
  /// A small sign between facts on one line.
  package let separator: SafeText
  /// Something that succeeded.
  package let check: SafeText
  /// Something that failed.
  package let cross: SafeText
  /// Something under way.
  package let pending: SafeText
  /// Somebody or something that is there.
  package let online: SafeText
  /// Somebody or something that is away.
  package let offline: SafeText
  /// Somebody or something that may be away.
  package let unsure: SafeText
  /// A piece of a horizontal line.
  package let horizontal: SafeText
  /// A piece of a vertical line.
  package let vertical: SafeText
  /// The top left corner of a box.
  package let topLeft: SafeText
  /// The top right corner of a box.
  package let topRight: SafeText
  /// The bottom left corner of a box.
  package let bottomLeft: SafeText
  /// The bottom right corner of a box.
  package let bottomRight: SafeText
  /// The part of a scroll bar that moves.
  package let scrollThumb: SafeText

  /// Between facts on one line; in ASCII not the sign of a star that was not given.
  package var factSeparator: SafeText {
    switch repertoire {
    case .unicode: " " + separator + " "
    case .ascii: " | "
    }
  }
}

extension SafeText {
  /// The same text in characters that the terminal can show; no cluster changes its width.
  package func transliterated(to repertoire: CharacterRepertoire) -> SafeText {
    switch repertoire {
    case .unicode:
      return self
    case .ascii:
      var result = SafeText()
      var breaks = lineBreaks[...]
      for (index, cluster) in clusters.enumerated() {
        while let next = breaks.first, next <= index {
          result.append(SafeText(clusters: [], lineBreaks: [0]))
          breaks.removeFirst()
        }
        result.append(SafeText(clusters: cluster.asciiForms, lineBreaks: []))
      }
      return result + SafeText(clusters: [], lineBreaks: breaks.map { _ in 0 })
    }
  }
}

extension Cluster {
  /// Narrow ASCII clusters that together cover the same number of cells.
  package var asciiForms: [Cluster] {
    if let base, base.isASCII, !hasMarks { return [self] }
    let form = Self.asciiForm(of: base ?? "?")
    return Array(repeating: Cluster(form, width: 1), count: width)
  }

  private static func asciiForm(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\u{21}"..."\u{7E}": scalar
    case " ", "\u{A0}", "\u{3000}", "\u{2000}"..."\u{200A}", "\u{202F}", "\u{205F}": " "
    case "‘", "’", "‚", "‹", "›": "'"
    case "“", "”", "„", "«", "»": "\""
    case "–", "—", "‐", "‑", "−", "─", "━", "┄": "-"
    case "…": "~"
    case "•", "·", "●", "★", "☆", "○": "*"
    case "│", "┃", "▌", "▐", "█": "|"
    case "┌", "┐", "└", "┘", "├", "┤", "┬", "┴", "┼", "╭", "╮", "╰", "╯": "+"
    case "←", "◀", "⟨": "<"
    case "→", "▶", "⟩": ">"
    case "↑", "▲": "^"
    case "↓", "▼": "v"
    case "✓": "+"
    case "✗", "×": "x"
    default: "?"
    }
  }
}
