/// How well a few typed letters fit a name: all of them in order, together and at starts of words.
package struct FuzzyMatch: Hashable, Sendable {
  /// The larger, the better.
  package let score: Int
  /// The numbers of the characters of the name that were typed.
  package let positions: [Int]

  /// How much of a name is looked at, so that no text of others takes long.
  private static let limit = 200

  /// Matches without regard to upper and lower case; nil if a letter is missing.
  ///
  /// - Complexity: O(n · m) in the lengths of both.
  package init?(_ pattern: String, in name: String) {
    let needle = Array(pattern.lowercased().filter { !$0.isWhitespace })
    let hay = Array(name.lowercased().prefix(Self.limit))
    // For each place of the last letter, the best score and where the letter before it was.
    var rows: [[(score: Int, previous: Int)?]] = []
    for (index, letter) in needle.enumerated() {
      var row = [(score: Int, previous: Int)?](repeating: nil, count: hay.count)
      var best: (score: Int, place: Int)?
      for place in hay.indices {
        if index > 0, place > 0, let before = rows[index - 1][place - 1] {
          if before.score >= best?.score ?? .min { best = (before.score, place - 1) }
        }
        guard hay[place] == letter else { continue }
        let isStart = place == 0 || !(hay[place - 1].isLetter || hay[place - 1].isNumber)
        let own = (isStart ? 8 : 0) - min(place, 7)
        if index == 0 {
          row[place] = (own, -1)
          continue
        }
        let joined = place > 0 ? rows[index - 1][place - 1].map { ($0.score + 10, place - 1) } : nil
        let apart = best.map { ($0.score, $0.place) }
        guard let chosen = [joined, apart].compactMap(\.self).max(by: { $0.0 < $1.0 }) else {
          continue
        }
        row[place] = (chosen.0 + own, chosen.1)
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
    var places: [Int] = []
    var place = end
    for row in rows.reversed() {
      places.append(place)
      place = row[place]?.previous ?? 0
    }
    positions = places.reversed()
  }
}
