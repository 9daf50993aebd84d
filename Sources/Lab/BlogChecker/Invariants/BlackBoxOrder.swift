import RealtimeCore

/// What clients saw of one number or star has an order that explains it, whatever the revisions say.
struct BlackBoxOrder: Invariant {
  static let promises: [Promise] = [.g2]
  static let statement = "short histories of a number or star are linearizable"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

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
          call(.add(amount, sum: sum), operation)
        )
      case .read(let path):
        // A place where nothing is counts as 0.
        guard case .ok(let value) = operation.outcome,
          let number = (value ?? .integer(0)).integer
        else { continue }
        histories[Path(wire: path), default: []].append(call(.read(number), operation))
      case .post, .editPost, .deletePost, .comment, .deleteComment, .star, .unstar, .starAs,
        .editOther, .administer:
        continue
      }
    }
    for (path, calls) in histories {
      let start = evidence.testimony.root[path].leafValue?.number.flatMap { Int64(exactly: $0) }
      search(calls, from: start ?? 0, at: "\(path)")
    }
  }

  /// A star is a number that is 1 or 0, read once at the end.
  private mutating func checkStars() {
    guard let end = evidence.history.lines.last?.time.advanced(by: .microseconds(1)) else { return }
    for (star, writes) in evidence.reckoning.stars {
      let post = Path([.posts, ChildKey(star.post)])
      guard !evidence.finalRoot[post].isEmpty else { continue }
      let path = post.appending(Path([.stars, ChildKey(star.uid)]))
      var calls = writes.operations.map { call(.write($0.starred == true ? 1 : 0), $0) }
      let isStarred = !evidence.finalRoot[path].isEmpty
      calls.append(RegisterCall(.read(isStarred ? 1 : 0), invoked: end, returned: end))
      let start: Int64 = evidence.testimony.root[path].isEmpty ? 0 : 1
      search(calls, from: start, at: "\(path)")
    }
  }

  private func call(_ action: RegisterCall.Action, _ operation: ClientOperation) -> RegisterCall {
    RegisterCall(action, invoked: operation.invoked, returned: operation.acknowledged)
  }

  private mutating func search(_ calls: [RegisterCall], from start: Int64, at place: String) {
    guard calls.count <= evidence.options.searchedOperations else { return }
    switch LinearizabilitySearch(calls).run(from: start) {
    case .linearizable: findings.held()
    case .undecided: break
    case .violated:
      findings.expect(false, at: place, "no order of the \(calls.count) calls explains them")
    }
  }
}
