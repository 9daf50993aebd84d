import RealtimeCore

/// What clients saw of one number or star can be explained by an order, regardless of the
/// revisions.
struct BlackBoxOrder: Invariant {
  static let promises: [Promise] = [.g2]
  static let statement = "short histories of a number or star are linearizable"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    checkCounters()
    checkStars()
  }

  private mutating func checkCounters() {
    var histories: [Path: [RegisterCall]] = [:]
    for operation in evidence.history.operations where !operation.isRefused {
      switch operation.intent {
      case .increment(let path, let amount):
        var sum: Int64?
        if case .ok(let value) = operation.outcome { sum = value?.integer }
        histories[Path(wire: path), default: []].append(
          call(.add(amount, sum: sum), by: operation)
        )
      case .read(let path, _):
        // A missing value counts as 0.
        guard case .ok(let value) = operation.outcome,
          let number = (value ?? .integer(0)).integer
        else { continue }
        histories[Path(wire: path), default: []].append(call(.read(number), by: operation))
      case .post, .editPost, .deletePost, .comment, .deleteComment, .star, .unstar, .starAs,
        .editOther, .administer:
        continue
      }
    }
    for (path, calls) in histories {
      let start = evidence.commits.root[path].leafValue?.number.flatMap { Int64(exactly: $0) }
      search(calls, from: start ?? 0, at: "\(path)")
    }
  }

  /// A star is a number that is 1 or 0, and is read once at the end.
  private mutating func checkStars() {
    guard let end = evidence.history.lines.last?.time.advanced(by: .microseconds(1)) else { return }
    for (star, writes) in evidence.model.stars {
      let post = Path([.posts, ChildKey(star.post)])
      guard !evidence.finalRoot[post].isEmpty else { continue }
      let path = post.appending(Path([.stars, ChildKey(star.uid)]))
      var calls = writes.operations.map { call(.write($0.starred == true ? 1 : 0), by: $0) }
      let isStarred = !evidence.finalRoot[path].isEmpty
      calls.append(RegisterCall(action: .read(isStarred ? 1 : 0), invoked: end, returned: end))
      let start: Int64 = evidence.commits.root[path].isEmpty ? 0 : 1
      search(calls, from: start, at: "\(path)")
    }
  }

  private func call(_ action: RegisterCall.Action, by operation: ClientOperation) -> RegisterCall {
    RegisterCall(action: action, invoked: operation.invoked, returned: operation.acknowledged)
  }

  private mutating func search(_ calls: [RegisterCall], from start: Int64, at location: String) {
    guard calls.count <= evidence.options.searchedOperations else { return }
    switch LinearizabilitySearch(calls).run(from: start) {
    case .linearizable: findings.held()
    case .undecided: break
    case .violated:
      findings.expect(
        false,
        at: location,
        otherwise: "no order of \(Words.count(calls.count, "call")) explains their results"
      )
    }
  }
}

/// Searches for an order of calls that explains all their results and agrees with real time.
///
/// It knows only what the callers saw. The search moves forward through the history, tries each
/// call that may come next, and does not try the same set of calls with the same result twice. It
/// is meant for short histories with few concurrent calls, and gives up on others.
struct LinearizabilitySearch: Sendable {
  enum Result: Hashable, Sendable {
    /// Such an order exists.
    case linearizable
    case violated
    /// The search was abandoned after this many steps.
    case undecided(steps: Int)
  }

  /// The calls taken so far, and the number that they result in.
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

  /// Creates a search over the calls of one object.
  ///
  /// - Parameters:
  ///   - calls: All calls, in any order.
  ///   - limit: The number of steps after which the search is abandoned.
  init(_ calls: [RegisterCall], limit: Int = 50_000) {
    self.calls = calls.sorted { $0.invoked < $1.invoked }
    self.limit = limit
  }

  /// Runs the search.
  ///
  /// - Returns: Whether an order exists.
  /// - Complexity: Exponential in the number of concurrent calls, at most the limit.
  func run(from initial: Int64 = 0) -> Result {
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

  /// The calls that began before the first of the remaining calls ended.
  private func candidates(after position: Position) -> [Int] {
    let left = calls.indices.filter { !position.hasTaken($0) }
    let firstEnd = left.compactMap { calls[$0].returned }.min()
    return left.filter { index in firstEnd.map { calls[index].invoked <= $0 } ?? true }
  }
}

/// One call on an object, from its start to its end.
struct RegisterCall: Hashable, Sendable {
  /// What the call does to a whole number.
  enum Action: Hashable, Sendable {
    case read(Int64)
    case write(Int64)
    /// Adds to the number, and returns the sum if it is known.
    case add(Int64, sum: Int64?)
  }

  var action: Action
  var invoked: Moment
  /// When the call ended, or nil for a call that may have taken effect at any time since, or never.
  var returned: Moment?

  /// The number after the call, or nil when the call cannot have had this result.
  func applied(to number: Int64) -> Int64? {
    switch action {
    case .read(let value): return value == number ? number : nil
    case .write(let value): return value
    case .add(let amount, let sum):
      let (result, overflow) = number.addingReportingOverflow(amount)
      if overflow || sum.map({ $0 != result }) ?? false { return nil }
      return result
    }
  }
}
