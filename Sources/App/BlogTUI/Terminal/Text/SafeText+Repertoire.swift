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
