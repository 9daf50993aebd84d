/// Looks for an order of calls that explains all their results and agrees with real time.
///
/// It knows nothing but what the callers saw. The search goes forward through the history and takes
/// one of the calls that may come next; a set of calls that has led to a number before is not tried
/// again. It is meant for short histories of few callers at once: others are given up.
package struct LinearizabilitySearch: Sendable {
  /// What a search has come to.
  package enum Result: Hashable, Sendable {
    /// There is such an order.
    case linearizable
    /// There is none.
    case violated
    /// The search was given up after so many steps.
    case undecided(steps: Int)
  }

  /// The calls taken and the number they have led to.
  private struct Position: Hashable {
    /// A bit for each call.
    private var words: [UInt64]
    var number: Int64

    init(count: Int, number: Int64) {
      words = Array(repeating: 0, count: count / 64 + 1)
      self.number = number
    }

    func hasTaken(_ index: Int) -> Bool { words[index / 64] >> UInt64(index % 64) & 1 == 1 }

    mutating func take(_ index: Int) { words[index / 64] |= 1 << UInt64(index % 64) }
  }

  private let calls: [RegisterCall]
  private let limit: Int

  /// Takes the calls of one object.
  ///
  /// - Parameters:
  ///   - calls: All calls, in any order.
  ///   - limit: The steps after which the search is given up.
  package init(_ calls: [RegisterCall], limit: Int = 50_000) {
    self.calls = calls.sorted { $0.invoked < $1.invoked }
    self.limit = limit
  }

  /// Searches.
  ///
  /// - Parameter initial: The number before all calls.
  /// - Returns: Whether there is an order.
  /// - Complexity: Exponential in the number of calls at once, at most the limit.
  package func run(from initial: Int64 = 0) -> Result {
    let needed = calls.indices.filter { calls[$0].returned != nil }
    var visited: Set<Position> = []
    var stack = [Position(count: calls.count, number: initial)]
    var steps = 0
    while let position = stack.popLast() {
      steps += 1
      if steps > limit { return .undecided(steps: steps) }
      if needed.allSatisfy(position.hasTaken) { return .linearizable }
      for index in candidates(after: position).reversed() {
        guard let number = calls[index].applied(to: position.number) else { continue }
        var next = position
        next.take(index)
        next.number = number
        if visited.insert(next).inserted { stack.append(next) }
      }
    }
    return .violated
  }

  /// The calls that began before the first of those left has ended.
  private func candidates(after position: Position) -> [Int] {
    let left = calls.indices.filter { !position.hasTaken($0) }
    let firstEnd = left.compactMap { calls[$0].returned }.min()
    return left.filter { index in firstEnd.map { calls[index].invoked <= $0 } ?? true }
  }
}
