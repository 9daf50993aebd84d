/// How well typed letters match a name: all of them in order, ideally adjacent and at word starts.
package struct FuzzyMatch: Hashable, Sendable {
  /// The score; larger is better.
  package let score: Int
  /// The indices of the matched characters in the name.
  package let positions: [Int]

  /// The longest part of a name that is searched; it bounds the time spent on other users' texts.
  private static let limit = 200

  /// The name that matches best, and of equal ones the first; nil if none does.
  static func closest(to typed: String, among names: [String]) -> String? {
    names.compactMap { name in FuzzyMatch(typed, in: name).map { (name, $0.score) } }
      .max { $0.1 < $1.1 }?.0
  }

  /// Matches without regard to case; nil if a letter is missing.
  ///
  /// - Complexity: O(n · m) in the lengths of both
  package init?(_ pattern: String, in name: String) {
    let needle = Array(pattern.lowercased().filter { !$0.isWhitespace })
    let hay = Array(name.lowercased().prefix(Self.limit))
    // For each column of the last letter: the best score, and the column of the previous letter.
    var rows: [[(score: Int, previous: Int)?]] = []
    for (index, letter) in needle.enumerated() {
      var row = [(score: Int, previous: Int)?](repeating: nil, count: hay.count)
      var best: (score: Int, column: Int)?
      for column in hay.indices {
        if index > 0, column > 0, let before = rows[index - 1][column - 1] {
          if before.score >= best?.score ?? .min { best = (before.score, column - 1) }
        }
        guard hay[column] == letter else { continue }
        let isStart = column == 0 || !(hay[column - 1].isLetter || hay[column - 1].isNumber)
        let own = (isStart ? 8 : 0) - min(column, 7)
        if index == 0 {
          row[column] = (own, -1)
          continue
        }
        let joined =
          column > 0 ? rows[index - 1][column - 1].map { ($0.score + 10, column - 1) } : nil
        let apart = best.map { ($0.score, $0.column) }
        guard let chosen = [joined, apart].compactMap(\.self).max(by: { $0.0 < $1.0 }) else {
          continue
        }
        row[column] = (chosen.0 + own, chosen.1)
      }
      rows.append(row)
    }
    guard let last = rows.last else {
      score = 0
      positions = []
      return
    }
    let ends = last.indices.filter { last[$0] != nil }
    guard let end = ends.max(by: { (last[$0]?.score ?? 0) < (last[$1]?.score ?? 0) }) else {
      return nil
    }
    score = (last[end]?.score ?? 0) * 4 - hay.count
    var columns: [Int] = []
    var column = end
    for row in rows.reversed() {
      columns.append(column)
      column = row[column]?.previous ?? 0
    }
    positions = columns.reversed()
  }
}
