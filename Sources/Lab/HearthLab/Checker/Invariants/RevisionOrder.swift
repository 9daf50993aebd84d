import RealtimeCore

/// Commits have one order, which matches real time, and each transaction has read the state before
/// it.
///
/// An operation is identified among the commits by what it wrote. If it was acknowledged before
/// another began, it has the lower revision. The result of a transaction is that of its own commit,
/// and a read returns the state after a commit that it may have seen.
struct RevisionOrder: Invariant {
  static let promises: [Promise] = [.g2]
  static let statement = "commits have one order, which matches real time"

  private struct Transition {
    let revision: Int64
    let seen: Moment
    let isStarred: Bool
    let starCount: Int
  }

  private struct State {
    let revision: Int64
    let value: JSONValue

    /// The value as a number; a missing value counts as 0.
    var number: Int64? { value == .null ? 0 : value.integer }
  }

  private let evidence: Evidence
  private var revision: Int64
  private var replayed: Node
  private var appeared: [Path: Int64] = [:]
  private var transitions: [Model.Star: [Transition]] = [:]
  /// Every value of each path that was read or incremented.
  private var states: [Path: [State]] = [:]
  private var hasGaps = false
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    revision = evidence.commits.revision
    replayed = evidence.commits.root
    for operation in evidence.history.operations {
      guard let path = operation.numberPath else { continue }
      states[path] = [
        State(revision: revision, value: evidence.commits.root[path].json(.value))
      ]
    }
  }

  mutating func observe(_ step: Step) {
    replayed = step.after
    if step.isJump {
      hasGaps = true
    } else {
      findings.expect(
        step.revision == revision + 1,
        at: step.location,
        otherwise: "it follows revision \(revision)"
      )
    }
    revision = step.revision
    noteAppearances(step)
    noteTransitions(step)
    for path in states.keys where step.changes.contains(where: { $0.path.overlaps(path) }) {
      let value = step.after[path].json(.value)
      guard value != states[path]?.last?.value else { continue }
      states[path]?.append(State(revision: step.revision, value: value))
    }
  }

  private mutating func noteAppearances(_ step: Step) {
    for path in step.appearances {
      appeared[path] = appeared[path] ?? step.revision
    }
  }

  private mutating func noteTransitions(_ step: Step) {
    for post in step.touched.posts {
      let path = Path([.posts, post])
      let (before, after) = (step.before[path], step.after[path])
      guard !after.isEmpty, before[.stars] != after[.stars] else { continue }
      for uid in before[.stars].differences(from: after[.stars]) {
        transitions[.init(post: post.text, uid: uid.text), default: []].append(
          Transition(
            revision: step.revision,
            seen: step.seen,
            isStarred: !after[.stars][uid].isEmpty,
            starCount: after.starCount ?? -1
          )
        )
      }
    }
  }

  mutating func conclude() {
    if evidence.commits.finalRevision == revision {
      findings.expect(
        replayed == evidence.finalRoot,
        at: "revision \(revision)",
        otherwise: "the commits do not produce the final data"
      ) {
        replayed.differences(from: evidence.finalRoot).map { key in
          "/\(key): \(replayed[key].summary), and read as a whole "
            + "\(evidence.finalRoot[key].summary)"
        }
      }
    }
    guard !hasGaps else { return }
    let placed = placedOperations()
    checkRealTime(placed)
    checkReads(placed)
  }

  // MARK: Finding operations among the commits

  private mutating func placedOperations() -> [(operation: ClientOperation, revision: Int64)] {
    var placed: [(operation: ClientOperation, revision: Int64)] = []
    for operation in evidence.history.operations where !operation.isRefused {
      switch operation.intent {
      case .post(let post, _, _):
        if let revision = appeared[Path([.posts, ChildKey(post)])] {
          placed.append((operation, revision))
        }
      case .comment(let post, let comment, _):
        if let revision = appeared[CommentKey(post: post, comment: comment).path] {
          placed.append((operation, revision))
        }
      case .increment(let path, let amount):
        locateIncrement(operation, by: amount, at: Path(wire: path), into: &placed)
      case .editPost, .deletePost, .deleteComment, .star, .unstar, .read, .starAs, .editOther,
        .administer:
        break
      }
    }
    for (star, transitions) in transitions {
      locateStars(of: star, among: transitions, into: &placed)
    }
    return placed.sorted { $0.revision < $1.revision }
  }

  /// An increment belongs to the commit with its result, if that number appeared only once.
  private mutating func locateIncrement(
    _ operation: ClientOperation,
    by amount: Int64,
    at path: Path,
    into placed: inout [(operation: ClientOperation, revision: Int64)]
  ) {
    guard case .ok(let value?) = operation.outcome, let states = states[path] else { return }
    let matches = states.filter { $0.number == value.integer }
    findings.expect(
      !matches.isEmpty,
      at: "\(path)",
      otherwise: "an increment returned \(value.text), which was never the value"
    ) { ["\(operation)"] }
    // Adding 0 creates no commit.
    if amount != 0, matches.count == 1, let match = matches.first {
      placed.append((operation, match.revision))
    }
  }

  /// One user's stars on one post are matched by counting, if they follow one another.
  private mutating func locateStars(
    of star: Model.Star,
    among transitions: [Transition],
    into placed: inout [(operation: ClientOperation, revision: Int64)]
  ) {
    let operations = evidence.model.stars[star]?.operations ?? []
    guard operations.count == transitions.count, Self.followOneAnother(operations),
      zip(operations, transitions).allSatisfy({ $0.starred == $1.isStarred })
    else { return }
    for (operation, transition) in zip(operations, transitions) {
      placed.append((operation, transition.revision))
      guard case .ok(let value?) = operation.outcome, let count = value.integer else { continue }
      findings.expect(
        count == transition.starCount,
        at: "revision \(transition.revision)",
        otherwise:
          "a transaction returned \(Words.count(count, "star")), and committed "
          + "\(transition.starCount)"
      ) { ["\(operation)"] }
    }
  }

  private static func followOneAnother(_ operations: [ClientOperation]) -> Bool {
    zip(operations, operations.dropFirst()).allSatisfy { earlier, later in
      earlier.acknowledged.map { $0 <= later.invoked } ?? false
    }
  }

  // MARK: Order

  /// No operation that began after another was acknowledged has a lower revision than that one.
  private mutating func checkRealTime(
    _ placed: [(operation: ClientOperation, revision: Int64)]
  ) {
    var latest: (operation: ClientOperation, revision: Int64)?
    for entry in placed {
      if let latest, let end = entry.operation.acknowledged {
        findings.expect(
          latest.operation.invoked <= end,
          at: "revision \(entry.revision)",
          otherwise: "an operation was acknowledged before another began that has a lower revision"
        ) {
          [
            "\(latest.revision): \(latest.operation)", "\(entry.revision): \(entry.operation)",
          ]
        }
      }
      if latest.map({ $0.operation.invoked < entry.operation.invoked }) ?? true { latest = entry }
    }
  }

  /// A read returns a value that existed at or after the last commit acknowledged before it.
  private mutating func checkReads(_ placed: [(operation: ClientOperation, revision: Int64)]) {
    let settled = placed.filter { $0.operation.acknowledged != nil }
    for operation in evidence.history.operations {
      guard case .read(let path) = operation.intent, case .ok(let value) = operation.outcome else {
        continue
      }
      let least =
        settled.lazy.filter { entry in
          entry.operation.acknowledged.map { $0 < operation.invoked } ?? false
        }.map(\.revision).max() ?? evidence.commits.revision
      let states = states[Path(wire: path)] ?? []
      let first = states.lastIndex { $0.revision <= least } ?? 0
      findings.expect(
        states[first...].contains { $0.value == value ?? .null },
        at: path,
        otherwise:
          "a read returned \((value ?? .null).text), not a value since revision \(least)"
      ) { ["\(operation)"] }
    }
  }
}

extension ClientOperation {
  /// The path of the single value that the operation reads or increments, or nil.
  fileprivate var numberPath: Path? {
    switch intent {
    case .increment(let path, _), .read(let path): Path(wire: path)
    case .post, .editPost, .deletePost, .comment, .deleteComment, .star, .unstar, .starAs,
      .editOther, .administer:
      nil
    }
  }
}
