/// Numbers in at most four cells.
enum ShortNumber {
  /// The number, or so many thousands, millions or milliards; nothing below zero.
  static func text(_ number: Int) -> SafeText {
    let number = max(0, number)
    let units: [(Int, String)] = [(1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")]
    guard let unit = units.first(where: { number >= $0.0 }) else { return SafeText(number) }
    let divisor = unit.1 == "k" ? 1_000 : unit.0
    return SafeText(untrusted: "\(min(999, number / divisor))\(unit.1)")
  }
}
