/// How often values of which size came, to within an eighth of each.
///
/// Values up to 8 have a place each; beyond, every power of two is cut into eight.
struct Histogram {
  /// How many values have come.
  private(set) var count = 0
  private(set) var sum = 0
  private(set) var maximum = 0
  private var places: [Int] = []

  /// Counts a value; negative ones count as 0.
  ///
  /// - Complexity: O(1)
  mutating func record(_ value: Int) {
    let value = max(0, value)
    let place = Self.place(of: value)
    if places.count <= place {
      places.append(contentsOf: repeatElement(0, count: place + 1 - places.count))
    }
    places[place] += 1
    count += 1
    sum &+= value
    maximum = max(maximum, value)
  }

  /// A value that this share of all values does not exceed, by at most an eighth too high.
  ///
  /// - Complexity: O(log maximum)
  func quantile(_ share: Double) -> Int {
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (place, number) in places.enumerated() {
      seen += number
      if seen >= rank { return min(Self.largestValue(at: place), maximum) }
    }
    return maximum
  }

  private static func place(of value: Int) -> Int {
    guard value >= 8 else { return value }
    let power = Int.bitWidth - 1 - value.leadingZeroBitCount
    return (power - 2) * 8 + (value >> (power - 3)) - 8
  }

  private static func largestValue(at place: Int) -> Int {
    guard place >= 8 else { return place }
    let power = place / 8 + 2
    let step = 1 << (power - 3)
    return (1 << power) + (place % 8 + 1) * step - 1
  }
}
