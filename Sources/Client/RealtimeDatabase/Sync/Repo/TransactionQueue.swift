import RealtimeCore

/// The transactions under way by location; those at one location in the order they began.
struct TransactionQueue: Sendable {
  private var queues = SortedMap<Path, [Transaction]>()

  var isEmpty: Bool { queues.isEmpty }

  mutating func append(_ transaction: Transaction) {
    queues.updateValue((queues[transaction.path] ?? []) + [transaction], forKey: transaction.path)
  }

  /// Replaces a transaction with a later version of it.
  mutating func update(_ transaction: Transaction) {
    _ = queues.modify(transaction.path) { queue in
      if let index = queue.firstIndex(where: { $0.order == transaction.order }) {
        queue[index] = transaction
      }
    }
  }

  mutating func remove(_ transaction: Transaction) {
    let rest = queues.modify(transaction.path) { queue -> Int in
      queue.removeAll { $0.order == transaction.order }
      return queue.count
    }
    if rest == 0 { queues.removeValue(forKey: transaction.path) }
  }

  /// The topmost location at or above a path with transactions, or nil.
  func topmost(on path: Path) -> Path? {
    if queues.isEmpty { return nil }
    for depth in 0...path.count {
      let location = Path(path.keys.prefix(depth))
      if queues[location] != nil { return location }
    }
    return nil
  }

  /// The topmost locations at and below a path with transactions, none of them above another.
  func topmost(below path: Path) -> [Path] {
    var result: [Path] = []
    for (location, _) in entries(below: path) {
      if let last = result.last, last.contains(location) { continue }
      result.append(location)
    }
    return result
  }

  /// The transactions at and below a path, in the order they began.
  func all(below path: Path) -> [Transaction] {
    entries(below: path).flatMap(\.1).sorted { $0.order < $1.order }
  }

  /// The transactions at, above and below a path, in the order they began.
  func all(overlapping path: Path) -> [Transaction] {
    if queues.isEmpty { return [] }
    var result = entries(below: path).flatMap(\.1)
    for depth in 0..<path.count { result += queues[Path(path.keys.prefix(depth))] ?? [] }
    return result.sorted { $0.order < $1.order }
  }

  private func entries(below path: Path) -> [(Path, [Transaction])] {
    var result: [(Path, [Transaction])] = []
    for (location, queue) in queues.ascending(after: { $0 < path }) {
      guard path.contains(location) else { break }
      result.append((location, queue))
    }
    return result
  }
}
