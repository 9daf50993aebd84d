import RealtimeCore

/// Numbers by location, which finds those at, above and below a path.
struct PlaceIndex: Sendable {
  private var numbers = SortedMap<Path, Set<Int64>>()

  /// Adds a number at a path.
  mutating func insert(_ number: Int64, at path: Path) {
    let found: Void? = numbers.modify(path) { $0.insert(number) }.map { _ in }
    if found == nil { numbers.updateValue([number], forKey: path) }
  }

  /// Takes a number at a path away.
  mutating func remove(_ number: Int64, at path: Path) {
    let rest = numbers.modify(path) { here -> Int in
      here.remove(number)
      return here.count
    }
    if rest == 0 { numbers.removeValue(forKey: path) }
  }

  /// The numbers at, above and below a path.
  ///
  /// - Complexity: O(depth · log n + result)
  func overlapping(_ path: Path) -> Set<Int64> {
    var result: Set<Int64> = []
    for depth in 0..<path.count {
      result.formUnion(numbers[Path(path.keys.prefix(depth))] ?? [])
    }
    for (place, here) in numbers.ascending(after: { $0 < path }) {
      guard path.contains(place) else { break }
      result.formUnion(here)
    }
    return result
  }
}
