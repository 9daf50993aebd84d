import RealtimeCore

/// What one client writes keeps its order: the keys ascend, and the commits follow one another.
struct SendOrder: Invariant {
  static let promises: [Promise] = [.i4]
  static let statement = "posts and comments of one client stay in the order sent"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    for client in evidence.history.clients where client.header.role != .driver {
      checkCommits(of: client)
      // A clock that was set back generates lower keys.
      guard !hasSteppedClock(client.header.client) else { continue }
      checkKeys(of: client)
      checkTexts(of: client)
    }
  }

  private func hasSteppedClock(_ client: String) -> Bool {
    evidence.history.driver?.lines.contains { line in
      if case .fault("clock", client, _) = line.event { true } else { false }
    } ?? false
  }

  /// In the list of comments on a post, those by one client appear in the order of sending.
  ///
  /// They are identified by their text, so that swapped comments are detected.
  private mutating func checkTexts(of client: ClientHistory) {
    var sent: [String: (position: Int, post: String)] = [:]
    for (position, operation) in client.operations.enumerated() {
      guard case .comment(let post, _, let text) = operation.intent else { continue }
      sent[text] = (position, post)
    }
    for (post, comments) in evidence.finalRoot[.postComments].entries {
      var last: (position: Int, text: String)?
      for (key, comment) in comments.entries {
        guard let text = comment.text(.commentText), let found = sent[text],
          found.post == post.text
        else { continue }
        if let last {
          findings.expect(
            last.position < found.position,
            at: "/post-comments/\(post)/\(key)",
            otherwise: "a comment of \(client.header.client) comes after one that was sent later"
          ) { [last.text, text] }
        }
        last = (found.position, text)
      }
    }
  }

  private mutating func checkKeys(of client: ClientHistory) {
    let name = client.header.client
    var last: (key: ChildKey, operation: ClientOperation)?
    for operation in client.operations {
      guard let key = operation.intent.createdPath?.last else { continue }
      if let last {
        findings.expect(
          last.key < key,
          at: name,
          otherwise: "a later key sorts before an earlier one"
        ) {
          ["\(last.key) of \(last.operation)", "\(key) of \(operation)"]
        }
      }
      last = (key, operation)
    }
  }

  private mutating func checkCommits(of client: ClientHistory) {
    var last: (revision: Int64, operation: ClientOperation)?
    for operation in client.operations {
      guard let path = operation.intent.createdPath, let revision = evidence.order.appeared[path]
      else { continue }
      if let last {
        findings.expect(
          last.revision < revision,
          at: "revision \(revision)",
          otherwise: "\(client.header.client) wrote in a different order than the database has"
        ) { ["\(last.revision): \(last.operation)", "\(revision): \(operation)"] }
      }
      last = (revision, operation)
    }
  }
}

/// Events of a view are numbered without a gap, and none shows a state that was never committed.
struct EventOrder: Invariant {
  static let promises: [Promise] = [.g5]
  static let statement = "views show committed states only, without a gap"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    for client in evidence.history.clients {
      checkNumbers(of: client)
      for shown in ShownPosts(client) {
        var isKnown = true
        if case .never = evidence.paths.fit(shown) { isKnown = evidence.paths.hasGaps }
        findings.expect(
          isKnown,
          at: shown.location,
          otherwise:
            "post \(shown.post) is shown with \(Words.count(shown.starCount, "star")) in a state "
            + "it never had"
        )
      }
    }
  }

  private mutating func checkNumbers(of client: ClientHistory) {
    var last: [String: Int] = [:]
    for line in client.lines {
      if case .started = line.event { last = [:] }
      guard case .shown(let showing) = line.event else { continue }
      let expected = (last[showing.view] ?? 0) + 1
      findings.expect(
        showing.order == expected,
        at: "\(client.header.client), \(showing.view)",
        otherwise: "event \(showing.order) came where \(expected) was due"
      )
      last[showing.view] = showing.order
    }
  }
}

/// A client never forgets: its acknowledged comments and everything it has shown remain, even when
/// it was offline or restarted.
///
/// Only lists from the server count as shown; before that, a client shows what it has cached. What
/// it reads, at whichever server, and what its listeners are told afterwards is no older than its
/// acknowledged writes either.
struct SessionReads: Invariant {
  static let promises: [Promise] = [.g6]
  static let statement = "a client reads its own writes and never forgets"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    for client in evidence.history.clients { check(client) }
    let reads = ReadTracker(evidence)
    reads.expectReads(.ownWrites, &findings)
    reads.expectTellings(&findings)
  }

  private mutating func check(_ client: ClientHistory) {
    var acknowledged: [String: Set<String>] = [:]
    var shown: [String: Set<String>] = [:]
    for line in client.lines {
      switch line.event {
      case .answered(let number, .ok):
        guard case .comment(let post, let key, _)? = client.operation(number)?.intent else {
          continue
        }
        acknowledged[post, default: []].insert(key)
      case .shown(let showing):
        guard case .comments(let post, let list) = showing.content else { continue }
        let keys = Set(list)
        for (expected, what) in [
          (acknowledged[post], "its own comment"), (shown[post], "a comment shown before"),
        ] {
          for key in expected ?? [] {
            findings.expect(
              keys.contains(key) || isDeleted(key, of: post, by: line.time),
              at: showing.location(at: client),
              otherwise: "\(what) is missing from the comments on \(post)"
            ) { [key] }
          }
        }
        shown[post] = keys.filter {
          !isOwnUnsettled(CommentKey(post: post, comment: $0), of: client)
        }
      case .started, .invoked, .answered, .connection, .finalView, .screen, .fault, .server, .rules,
        .sample, .told, .stalled, .coalesced,
        .ended:
        break
      }
    }
  }

  /// Whether a comment is one of the client's own that may still be refused.
  private func isOwnUnsettled(_ key: CommentKey, of client: ClientHistory) -> Bool {
    guard let creation = evidence.model.comments[key]?.creation else { return false }
    return creation.client == client.header.client && !creation.isAcknowledged
  }

  /// Whether the deletion of a comment has begun, and was not refused.
  private func isDeleted(_ key: String, of post: String, by time: Moment) -> Bool {
    let deletions = evidence.model.comments[CommentKey(post: post, comment: key)]?.deletions ?? []
    return deletions.contains { !$0.isRefused && $0.invoked <= time }
  }
}
