import RealtimeCore

/// Nothing changes that nobody has asked for: a star is its owner's, a text its author's.
///
/// So an action that was refused, and one in the name of another, leaves no trace anywhere.
struct Authorship: Invariant {
  static let promises: [Promise] = [.i9]
  static let statement = "every change was asked for by whom it belongs to"

  private let evidence: Evidence
  private var reckoning: Reckoning { evidence.reckoning }
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func observe(_ step: Step) {
    for post in step.touched.posts {
      let place = Path([.posts, post])
      let (before, after) = (step.before[place], step.after[place])
      guard before != after, !reckoning.isAdministered(place) else { continue }
      if after.isEmpty {
        expect(step, "\(place) was deleted", reckoning.posts[post.text]?.thing.deletions ?? []) {
          $0.uid == before.text(.uid)
        }
        continue
      }
      checkTitle(post.text, before, after, step)
      checkStars(post.text, before[.stars], after[.stars], step)
    }
    for comment in step.touched.comments { checkComment(comment, step) }
  }

  mutating func conclude() {
    for operation in evidence.history.operations where operation.intent.isForbidden {
      findings.expect(
        !operation.isAcknowledged,
        at: operation.client,
        "what must be refused was acknowledged"
      ) { ["\(operation)"] }
    }
  }

  /// Expects that one of some operations was under way when a commit was seen, or had been.
  private mutating func expect(
    _ step: Step,
    _ what: @autoclosure () -> String,
    _ operations: [ClientOperation],
    where isRight: (ClientOperation) -> Bool
  ) {
    let period = Period(start: nil, end: step.seen)
    findings.expect(
      operations.contains { period.mayHaveBegun($0) && isRight($0) },
      at: step.place,
      "\(what()), and nobody who may has asked for that"
    ) { operations.prefix(5).map(\.description) }
  }

  private mutating func checkTitle(_ post: String, _ before: Node, _ after: Node, _ step: Step) {
    guard let title = after.text(.title), title != before.text(.title) else { return }
    let operations = reckoning.posts[post]?.titles.operations ?? []
    expect(step, "/posts/\(post) was given the title \"\(title)\"", operations) { operation in
      guard operation.uid == after.text(.uid) else { return false }
      return operation.title == title
    }
  }

  private mutating func checkStars(_ post: String, _ before: Node, _ after: Node, _ step: Step) {
    guard before != after else { return }
    for uid in Set(before.keys).union(after.keys) {
      let isStarred = !after[uid].isEmpty
      guard isStarred != !before[uid].isEmpty else { continue }
      let what = isStarred ? "has got the star of" : "has lost the star of"
      let operations = reckoning.stars[.init(post: post, uid: uid.text)]?.operations ?? []
      expect(step, "/posts/\(post) \(what) \(uid)", operations) { $0.starred == isStarred }
    }
  }

  private mutating func checkComment(_ touched: TouchedPlaces.Comment, _ step: Step) {
    let key = CommentKey(touched.post.text, touched.comment.text)
    let (before, after) = (step.before[key.path], step.after[key.path])
    guard before != after, !reckoning.isAdministered(key.path) else { return }
    let thing = reckoning.comments[key]
    guard after.isEmpty else {
      expect(step, "\(key.path) was written", thing?.creation.map { [$0] } ?? []) { operation in
        guard case .comment(_, _, let text) = operation.intent else { return false }
        return text == after.text(.commentText) && operation.uid == after.text(.uid)
      }
      return
    }
    let author =
      step.before[.posts][touched.post].text(.uid)
      ?? reckoning.posts[key.post]?.thing.creation?.uid
    let deletions =
      (thing?.deletions ?? []) + (reckoning.posts[key.post]?.thing.deletions ?? [])
    expect(step, "\(key.path) was deleted", deletions) { operation in
      if case .deletePost = operation.intent { return operation.uid == author }
      return operation.uid == before.text(.uid)
    }
  }
}

extension ClientOperation {
  /// The title that the operation gives a post, or nil.
  fileprivate var title: String? {
    switch intent {
    case .post(_, let title, _), .editPost(_, let title, _): title
    case .deletePost, .comment, .deleteComment, .star, .unstar, .increment, .read, .starAs,
      .editOther, .administer:
      nil
    }
  }
}
