import RealtimeCore

/// Numbers by path, for finding those at, above and below a path.
struct PathIndex: Sendable {
  private var numbers = SortedMap<Path, Set<Int64>>()

  mutating func insert(_ number: Int64, at path: Path) {
    let found: Void? = numbers.modify(path) { $0.insert(number) }.map { _ in }
    if found == nil { numbers.updateValue([number], forKey: path) }
  }

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
    var result = below(path)
    for prefix in path.prefixes.dropLast() { result.formUnion(numbers[prefix] ?? []) }
    return result
  }

  /// The numbers at and below a path.
  ///
  /// - Complexity: O(log n + result)
  func below(_ path: Path) -> Set<Int64> {
    var result: Set<Int64> = []
    for (_, here) in entries(below: path) { result.formUnion(here) }
    return result
  }

  /// The topmost path with numbers at or above a path, or nil.
  func topmost(on path: Path) -> Path? {
    numbers.isEmpty ? nil : path.prefixes.first { numbers[$0] != nil }
  }

  /// The topmost paths with numbers at and below a path, none of them above another.
  func topmost(below path: Path) -> [Path] {
    var result: [Path] = []
    for (location, _) in entries(below: path) where result.last?.contains(location) != true {
      result.append(location)
    }
    return result
  }

  private func entries(below path: Path) -> some Sequence<(key: Path, value: Set<Int64>)> {
    numbers.ascending { $0 < path }.lazy.prefix { path.contains($0.key) }
  }
}
