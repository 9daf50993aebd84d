/// A user who stars a post sees the star at once, and it does not disappear unless it was refused.
struct OwnWritesShown: Invariant {
  static let promises: [Promise] = [.i7]
  static let statement = "a user's own star is shown at once and does not flicker"

  /// A change that a client has requested and must be shown.
  private struct Expectation {
    let operation: ClientOperation
    let isStarred: Bool
    /// The views that have shown the change.
    var views: Set<String> = []
  }

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    let shared = Self.sharedStars(evidence.history)
    for client in evidence.history.clients where client.header.role != .driver {
      check(client, except: shared)
    }
  }

  /// The stars that one user changes with several clients, each of which affects what the others
  /// show.
  private static func sharedStars(_ history: History) -> Set<Model.Star> {
    var clients: [Model.Star: Set<String>] = [:]
    for operation in history.operations where operation.starred != nil {
      guard let post = operation.intent.post else { continue }
      clients[.init(post: post, uid: operation.uid), default: []].insert(operation.client)
    }
    return Set(clients.filter { $0.value.count > 1 }.keys)
  }

  private mutating func check(_ client: ClientHistory, except shared: Set<Model.Star>) {
    var expectations: [String: Expectation] = [:]
    // The changes of each star whose outcome the client has not learned; later processes carry them
    // out.
    var underWay: [String: Set<Int64>] = [:]
    for line in client.lines {
      switch line.event {
      case .started: expectations = [:]
      case .invoked(let number, let intent):
        guard let operation = client.operation(number), let isStarred = operation.starred,
          let post = intent.post,
          !shared.contains(.init(post: post, uid: client.header.uid))
        else { continue }
        // An earlier change of unknown outcome may be shown at any time.
        let isAlone = underWay[post, default: []].isEmpty
        expectations[post] =
          isAlone ? Expectation(operation: operation, isStarred: isStarred) : nil
        underWay[post, default: []].insert(number)
      case .answered(let number, let outcome):
        guard let post = client.operation(number)?.intent.post else { continue }
        let isExpected = expectations[post]?.operation.number == number
        switch outcome {
        case .ok: underWay[post]?.remove(number)
        case .refused:
          underWay[post]?.remove(number)
          if isExpected { expectations[post] = nil }
        case .unknown: if isExpected { expectations[post] = nil }
        }
      case .shown(let showing):
        check(showing, at: line.time, of: client, against: &expectations)
      case .connection, .finalView, .screen, .fault, .server, .rules, .sample, .told, .stalled,
        .coalesced,
        .ended:
        break
      }
    }
  }

  private mutating func check(
    _ showing: Showing,
    at time: Moment,
    of client: ClientHistory,
    against expectations: inout [String: Expectation]
  ) {
    switch showing.content {
    case .comments: break
    case .postGone(let post): expectations[post] = nil
    case .post(let post, _, _, let isMine, _):
      guard let expectation = expectations[post] else { return }
      let location = showing.location(at: client)
      if isMine == expectation.isStarred {
        findings.held()
        expectations[post]?.views.insert(showing.view)
      } else if expectation.views.contains(showing.view) {
        findings.expect(
          false,
          at: location,
          otherwise: "the client's own change of post \(post) was shown and vanished"
        ) {
          ["\(expectation.operation)"]
        }
      } else {
        findings.expect(
          time.since(expectation.operation.invoked) <= evidence.options.echo,
          at: location,
          otherwise: "the client's own change of post \(post) is not shown"
        ) { ["\(expectation.operation)", "\(time.since(expectation.operation.invoked)) later"] }
      }
    }
  }
}

extension ClientOperation {
  /// Whether the operation adds or removes a star; nil for other operations.
  var starred: Bool? {
    switch intent {
    case .star: true
    case .unstar: false
    case .post, .editPost, .deletePost, .comment, .deleteComment, .increment, .read, .starAs,
      .editOther, .administer:
      nil
    }
  }
}

/// No view goes back: anything shown after a state of a post is that state or a later one.
///
/// Nor does a client go back that reads at one server after another.
struct MonotonicViews: Invariant {
  static let promises: [Promise] = [.i8]
  static let statement = "nothing older is shown after something newer"

  private struct ViewedPost: Hashable {
    let view: String
    let post: String
  }

  /// The last state of a post that a view has shown.
  private struct Seen {
    var life: Int
    var position = 0
  }

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    for client in evidence.history.clients { check(client) }
    ReadTracker(evidence).expectReads(.ownSight, &findings)
  }

  private mutating func check(_ client: ClientHistory) {
    var seen: [ViewedPost: Seen] = [:]
    for shown in ShownPosts(client) {
      let viewed = ViewedPost(view: shown.view, post: shown.post)
      var last = seen[viewed] ?? Seen(life: shown.life)
      if last.life != shown.life {
        // What a new process shows first may have been cached by an earlier one.
        if shown.age <= evidence.options.echo { continue }
        last.life = shown.life
      }
      switch evidence.paths.fit(shown, from: last.position) {
      case .follows(let position):
        findings.held()
        last.position = position
      case .older(let version):
        findings.expect(
          evidence.paths.hasGaps,
          at: shown.location,
          otherwise:
            "post \(shown.post) is shown with \(Words.count(shown.starCount, "star")), which it had "
            + "before"
        ) { ["that is of revision \(version.revision)"] }
      case .never: break
      }
      seen[viewed] = last
    }
  }
}
