import RealtimeCore

/// What one client writes keeps its order: the keys ascend, and the commits follow one another.
struct SendOrder: Invariant {
  static let promises: [Promise] = [.i4]
  static let statement = "posts and comments of one client keep the order of sending"

  private let evidence: Evidence
  /// At which revision each post and comment appeared.
  private var appeared: [Path: Int64] = [:]
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func observe(_ step: Step) {
    // The order within what was missed is not known.
    guard !step.isJump else { return }
    for path in step.appearances {
      appeared[path] = appeared[path] ?? step.revision
    }
  }

  mutating func conclude() {
    for client in evidence.history.clients where client.header.role != .driver {
      checkCommits(of: client)
      // A clock that was set back makes keys that are lower.
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

  /// In the list of the comments on a post, those of one client stand in the order of sending.
  ///
  /// They are told by their text, so that two which have changed places are found.
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
            "a comment of \(client.header.client) stands after one that was sent later"
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
      guard let key = Self.place(of: operation)?.last else { continue }
      if let last {
        findings.expect(last.key < key, at: name, "a later key sorts before an earlier one") {
          ["\(last.key) of \(last.operation)", "\(key) of \(operation)"]
        }
      }
      last = (key, operation)
    }
  }

  private mutating func checkCommits(of client: ClientHistory) {
    var last: (revision: Int64, operation: ClientOperation)?
    for operation in client.operations {
      guard let place = Self.place(of: operation), let revision = appeared[place] else { continue }
      if let last {
        findings.expect(
          last.revision < revision,
          at: "revision \(revision)",
          "\(client.header.client) wrote in another order than the database has"
        ) { ["\(last.revision): \(last.operation)", "\(revision): \(operation)"] }
      }
      last = (revision, operation)
    }
  }

  private static func place(of operation: ClientOperation) -> Path? {
    switch operation.intent {
    case .post(let post, _, _): Path([.posts, ChildKey(post)])
    case .comment(let post, let comment, _): CommentKey(post, comment).path
    case .editPost, .deletePost, .deleteComment, .star, .unstar, .increment, .read, .starAs,
      .editOther, .administer:
      nil
    }
  }
}
