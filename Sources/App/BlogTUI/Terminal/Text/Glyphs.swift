/// The characters that a terminal can show.
package enum CharacterRepertoire: Hashable, Sendable {
  /// Everything in the width table.
  case unicode
  /// The 95 printable characters of ASCII.
  case ascii
}

/// The symbols that the program itself draws, in a form that the terminal can show.
package struct GlyphSet: Hashable, Sendable {
  package static let unicode = GlyphSet(.unicode)
  package static let ascii = GlyphSet(.ascii)

  package static func of(_ repertoire: CharacterRepertoire) -> GlyphSet {
    switch repertoire {
    case .unicode: .unicode
    case .ascii: .ascii
    }
  }

  package let repertoire: CharacterRepertoire
  /// A post that the user has starred.
  package let star: SafeText
  /// A post that the user has not starred.
  package let emptyStar: SafeText
  /// The symbol before a number of comments.
  package let comment: SafeText
  /// The start of an item in a list.
  package let bullet: SafeText
  /// The end of truncated text.
  package let ellipsis: SafeText
  package let left: SafeText
  package let right: SafeText
  /// The mark before the selected row.
  package let selection: SafeText
  /// A small symbol between facts on one line.
  package let separator: SafeText
  /// Something that succeeded.
  package let check: SafeText
  /// Something that failed.
  package let cross: SafeText
  /// Something in progress.
  package let pending: SafeText
  /// Someone or something that is online.
  package let online: SafeText
  /// Someone or something that is offline.
  package let offline: SafeText
  /// Someone or something that may be offline.
  package let unsure: SafeText
  package let horizontal: SafeText
  package let vertical: SafeText
  package let topLeft: SafeText
  package let topRight: SafeText
  package let bottomLeft: SafeText
  package let bottomRight: SafeText
  /// The movable part of a scroll bar.
  package let scrollThumb: SafeText

  private init(_ repertoire: CharacterRepertoire) {
    self.repertoire = repertoire
    func sign(_ unicode: SafeText, _ ascii: SafeText) -> SafeText {
      repertoire == .unicode ? unicode : ascii
    }
    star = sign("★", "*")
    emptyStar = sign("☆", "-")
    comment = sign("❝", "\"")
    bullet = sign("•", "*")
    ellipsis = sign("…", "...")
    left = sign("←", "<")
    right = sign("→", ">")
    selection = sign("▌", ">")
    separator = sign("·", "-")
    check = sign("✓", "+")
    cross = sign("✗", "x")
    pending = sign("◌", ".")
    online = sign("●", "+")
    offline = sign("○", "-")
    unsure = sign("◐", "?")
    horizontal = sign("─", "-")
    vertical = sign("│", "|")
    topLeft = sign("┌", "+")
    topRight = sign("┐", "+")
    bottomLeft = sign("└", "+")
    bottomRight = sign("┘", "+")
    scrollThumb = sign("█", "#")
  }

  /// The separator between facts on one line; in ASCII it differs from the symbol of an empty star.
  package var factSeparator: SafeText {
    switch repertoire {
    case .unicode: " " + separator + " "
    case .ascii: " | "
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
