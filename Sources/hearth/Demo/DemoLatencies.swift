/// How long something took, over and over.
struct DemoLatencies: Sendable {
  /// The latest ones in milliseconds, ascending.
  private var sorted: [Double] = []

  /// How often something was measured.
  var count: Int { sorted.count }

  /// Notes one duration.
  ///
  /// - Complexity: O(count), of which there are a few hundred.
  mutating func record(milliseconds: Double) {
    let place = sorted.firstIndex { $0 > milliseconds } ?? sorted.endIndex
    sorted.insert(milliseconds, at: place)
  }

  /// The whole milliseconds that so many of a hundred were not longer than; 0 if nothing was measured.
  func milliseconds(atPercentile percentile: Double) -> Int {
    guard !sorted.isEmpty else { return 0 }
    let rank = (Double(sorted.count) * percentile / 100).rounded(.up)
    return Int(sorted[min(sorted.count - 1, max(0, Int(rank) - 1))].rounded())
  }
}
