/// The tries of a transaction side by side: what each would have changed in the data it had read.
struct TransactionTries: Equatable, Sendable {
  /// One call of the transaction's function.
  struct Try: Equatable, Sendable {
    /// When it happened, in milliseconds since the first try.
    let time: Int64
    /// The lines of the data that it read.
    let read: [String]
    /// The lines of the data that it proposed; nil if it gave up.
    let proposed: [String]?
  }

  /// The smallest legible column width.
  private static let narrowest = 26

  private let tries: [Try]
  /// How the transaction began and ended, as far as events report it.
  private let frame: [String]

  /// Collects the events of one transaction; nil if none of them is a try.
  init?(_ events: [WireEvent]) {
    var tries: [Try] = []
    var frame: [String] = []
    var first: Int64?
    for event in events {
      let lines = event.detail.split(separator: "\n").map(String.init)
      guard let read = Self.value("read: ", in: lines) else {
        frame.append(event.title)
        continue
      }
      let start = first ?? event.time
      first = start
      let proposed = Self.value("proposed: ", in: lines)
      let gaveUp = proposed?.hasPrefix("nothing, ") == true
      tries.append(
        Try(
          time: event.time - start,
          read: IndentedJSON.lines(of: read),
          proposed: gaveUp ? nil : IndentedJSON.lines(of: proposed ?? "null")
        )
      )
    }
    guard !tries.isEmpty else { return nil }
    self.tries = tries
    self.frame = frame
  }

  private static func value(_ name: String, in lines: [String]) -> String? {
    lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
  }

  /// The lines of the page, with as many tries next to each other as fit.
  func sections(width: Int, glyphs: GlyphSet) -> [(heading: SafeText?, rows: [SafeText])] {
    var sections: [(heading: SafeText?, rows: [SafeText])] = [
      (nil, frame.flatMap { SafeText(untrusted: $0).wrapped(width: width) })
    ]
    let count = max(1, min(tries.count, width / Self.narrowest))
    let column = max(1, (width - 3 * (count - 1)) / count)
    for start in stride(from: 0, to: tries.count, by: count) {
      let band = Array(tries[start..<min(start + count, tries.count)].enumerated())
      let titles = band.map { offset, attempt in
        let after: SafeText =
          attempt.time > 0 ? ", after " + SafeText(Int(attempt.time)) + " ms" : ""
        return "Try " + SafeText(start + offset + 1) + after
      }
      let columns = band.map { $0.element.changes }
      let height = columns.map(\.count).max() ?? 0
      let rows = (0..<height).map { row in
        Self.row(
          columns.map { $0.indices.contains(row) ? SafeText(untrusted: $0[row]) : .empty },
          column: column,
          glyphs: glyphs
        )
      }
      sections.append((Self.row(titles, column: column, glyphs: glyphs), rows))
    }
    return sections
  }

  private static func row(_ cells: [SafeText], column: Int, glyphs: GlyphSet) -> SafeText {
    let last = cells.count - 1
    return cells.enumerated().map { index, cell in
      let cut = cell.truncated(to: column, ellipsis: glyphs.ellipsis)
      return index == last ? cut : cut.padded(to: column)
    }.joined(separator: " " + glyphs.vertical + " ")
  }
}

extension TransactionTries.Try {
  /// The removed and added lines, with a mark for unchanged ones.
  fileprivate var changes: [String] {
    guard let proposed else { return ["gives up after reading"] + read.map { "  " + $0 } }
    let difference = proposed.difference(from: read)
    guard !difference.isEmpty else { return ["changes nothing in"] + read.map { "  " + $0 } }
    var removed: Set<Int> = []
    var added: Set<Int> = []
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): added.insert(offset)
      }
    }
    var lines: [String] = []
    var old = 0
    var new = 0
    while old < read.count || new < proposed.count {
      if removed.contains(old) {
        lines.append("- " + read[old])
        old += 1
      } else if added.contains(new) {
        lines.append("+ " + proposed[new])
        new += 1
      } else {
        if lines.last != "  …" { lines.append("  …") }
        old += 1
        new += 1
      }
    }
    return lines
  }
}
