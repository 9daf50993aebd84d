import RealtimeCore
import RealtimeHub

/// Makes every commit once more, in their order.
struct Replay {
  /// What comes next.
  enum Event {
    case step(Step)
    case crash(Crash)
  }

  private var entries: [Testimony.Entry].Iterator
  private(set) var root: Node
  private var revision: Int64
  /// Whether commits say when they were made; a stream of events does not.
  private let hasTimes: Bool

  init(_ testimony: Testimony) {
    entries = testimony.entries.makeIterator()
    root = testimony.root
    revision = testimony.revision
    hasTimes = testimony.hasRevisions
  }

  mutating func next() -> Event? {
    switch entries.next() {
    case nil: return nil
    case .commit(let commit, let seen)?:
      let after = commit.changes.reduce(into: root) { $0.update(at: $1.path, to: $1.node) }
      return .step(
        advance(
          to: after,
          commit.revision,
          hasTimes ? commit.timestamp : nil,
          seen,
          commit.changes,
          isJump: false
        )
      )
    case .jump(let node, let revision, let seen)?:
      return .step(advance(to: node, revision, nil, seen, [Change(.root, node)], isJump: true))
    case .crash(let after, let before)?:
      let period = Period(start: after, end: before)
      return .crash(Crash(period: period, revision: revision, root: root))
    }
  }

  private mutating func advance(
    to after: Node,
    _ revision: Int64,
    _ timestamp: Int64?,
    _ seen: Moment,
    _ changes: [Change],
    isJump: Bool
  ) -> Step {
    defer {
      root = after
      self.revision = revision
    }
    return Step(
      revision: revision,
      timestamp: timestamp,
      seen: seen,
      before: root,
      after: after,
      changes: changes,
      isJump: isJump
    )
  }
}
