import RealtimeCore

/// Finds operations among the commits by what they wrote.
struct CommitOrder: Sendable {
  typealias Placed = (operation: ClientOperation, revision: Int64)

  private struct Transition {
    let revision: Int64
    let isStarred: Bool
    let starCount: Int
  }

  private struct State {
    let revision: Int64
    /// The value as a number; a missing value counts as 0.
    let number: Int64?

    init(_ node: Node, revision: Int64) {
      self.revision = revision
      number = node.isEmpty ? 0 : node.json(.value).integer
    }
  }

  /// All operations, in the order in which they began.
  private let operations: [ClientOperation]
  private let model: Model
  /// The revision at which each post and comment appeared.
  private(set) var appeared: [Path: Int64] = [:]
  private var transitions: [Model.Star: [Transition]] = [:]
  /// Every value of each path that was incremented.
  private var states: [Path: [State]] = [:]
  /// Whether commits were missed, so that no operation can be found for certain.
  private(set) var hasGaps = false

  init(_ operations: [ClientOperation], model: Model, commits: CommitHistory) {
    self.operations = operations
    self.model = model
    for operation in operations {
      guard case .increment(let place, _) = operation.intent else { continue }
      let path = Path(wire: place)
      states[path] = [State(commits.root[path], revision: commits.revision)]
    }
  }

  mutating func observe(_ step: Step) {
    if step.isJump {
      hasGaps = true
    } else {
      // The order within a gap is unknown.
      for path in step.appearances { appeared[path] = appeared[path] ?? step.revision }
    }
    noteTransitions(step)
    for path in states.keys where step.changes.contains(where: { $0.path.overlaps(path) }) {
      let state = State(step.after[path], revision: step.revision)
      guard state.number != states[path]?.last?.number else { continue }
      states[path]?.append(state)
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
            isStarred: !after[.stars][uid].isEmpty,
            starCount: after.starCount ?? -1
          )
        )
      }
    }
  }

  /// Finds the operations in the order of the commits, unless some were missed.
  func placedOperations(_ findings: inout Findings) -> [Placed] {
    guard !hasGaps else { return [] }
    var placed: [Placed] = []
    for operation in operations where !operation.isRefused {
      switch operation.intent {
      case .post, .comment:
        if let path = operation.intent.createdPath, let revision = appeared[path] {
          placed.append((operation, revision))
        }
      case .increment(let path, let amount):
        locateIncrement(operation, by: amount, at: Path(wire: path), into: &placed, &findings)
      case .editPost, .deletePost, .deleteComment, .star, .unstar, .read, .starAs, .editOther,
        .administer:
        break
      }
    }
    for (star, transitions) in transitions {
      locateStars(of: star, among: transitions, into: &placed, &findings)
    }
    return placed.sorted { $0.revision < $1.revision }
  }

  /// An increment belongs to the commit with its result, if that number appeared only once.
  private func locateIncrement(
    _ operation: ClientOperation,
    by amount: Int64,
    at path: Path,
    into placed: inout [Placed],
    _ findings: inout Findings
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
  private func locateStars(
    of star: Model.Star,
    among transitions: [Transition],
    into placed: inout [Placed],
    _ findings: inout Findings
  ) {
    let operations = model.stars[star]?.operations ?? []
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
}

extension Intent {
  /// The paths at which a client shows its own write until the server has answered.
  var coveredPaths: [Path] {
    switch self {
    case .post(let post, _, _), .editPost(let post, _, _), .star(let post), .unstar(let post),
      .starAs(let post, _), .editOther(let post, _):
      [Path([.posts, ChildKey(post)])]
    case .deletePost(let post):
      [Path([.posts, ChildKey(post)]), Path([.postComments, ChildKey(post)])]
    case .comment(let post, let comment, _), .deleteComment(let post, let comment):
      [CommentKey(post: post, comment: comment).path]
    case .increment, .read, .administer: []
    }
  }

  /// The path of the post or comment that the operation creates, or nil.
  var createdPath: Path? {
    switch self {
    case .post, .comment: coveredPaths.first
    case .editPost, .deletePost, .deleteComment, .star, .unstar, .increment, .read, .starAs,
      .editOther, .administer:
      nil
    }
  }

  /// The path at which the operation changes something, or nil.
  var writtenPath: Path? {
    if case .increment(let path, _) = self { Path(wire: path) } else { coveredPaths.first }
  }
}
