import RealtimeCore
import RealtimeServer

/// Every change was requested by the user it belongs to: a star by its owner, a text by its author.
///
/// So refused actions, and actions in another user's name, leave no trace anywhere.
struct Authorship: Invariant {
  static let promises: [Promise] = [.i9]
  static let statement = "every change was requested by its owner"

  let evidence: Evidence
  var findings: Findings
  private var model: Model { evidence.model }

  mutating func observe(_ step: Step) {
    for post in step.touched.posts {
      let path = Path([.posts, post])
      let (before, after) = (step.before[path], step.after[path])
      guard before != after, !model.isAdministered(path) else { continue }
      if after.isEmpty {
        expect(
          step,
          because: "\(path) was deleted",
          askedFor: model.posts[post.text]?.thing.deletions ?? []
        ) {
          $0.uid == before.text(.uid)
        }
        continue
      }
      checkTitle(of: post.text, before: before, after: after, at: step)
      checkStars(of: post.text, before: before[.stars], after: after[.stars], at: step)
    }
    for comment in step.touched.comments { checkComment(comment, at: step) }
  }

  mutating func conclude() {
    for operation in evidence.history.operations where operation.intent.isForbidden {
      findings.expect(
        !operation.isAcknowledged,
        at: operation.client,
        otherwise: "a write that must be refused was acknowledged"
      ) { ["\(operation)"] }
    }
  }

  /// Expects that one of some operations was under way, or had been, when a commit was seen.
  private mutating func expect(
    _ step: Step,
    because what: @autoclosure () -> String,
    askedFor operations: [ClientOperation],
    where isRight: (ClientOperation) -> Bool
  ) {
    let period = Period(start: nil, end: step.seen)
    findings.expect(
      operations.contains { period.mayHaveBegun($0) && isRight($0) },
      at: step.location,
      otherwise: "\(what()), and nobody with the right asked for it"
    ) { operations.prefix(5).map(\.description) }
  }

  private mutating func checkTitle(of post: String, before: Node, after: Node, at step: Step) {
    guard let title = after.text(.title), title != before.text(.title) else { return }
    let operations = model.posts[post]?.titles.operations ?? []
    expect(step, because: "/posts/\(post) was given the title \"\(title)\"", askedFor: operations) {
      operation in
      guard operation.uid == after.text(.uid) else { return false }
      return operation.title == title
    }
  }

  private mutating func checkStars(of post: String, before: Node, after: Node, at step: Step) {
    guard before != after else { return }
    for uid in Set(before.keys).union(after.keys) {
      let isStarred = !after[uid].isEmpty
      guard isStarred != !before[uid].isEmpty else { continue }
      let what = isStarred ? "gained the star of" : "lost the star of"
      let operations = model.stars[.init(post: post, uid: uid.text)]?.operations ?? []
      expect(step, because: "/posts/\(post) \(what) \(uid)", askedFor: operations) {
        $0.starred == isStarred
      }
    }
  }

  private mutating func checkComment(_ key: CommentKey, at step: Step) {
    let (before, after) = (step.before[key.path], step.after[key.path])
    guard before != after, !model.isAdministered(key.path) else { return }
    let thing = model.comments[key]
    guard after.isEmpty else {
      expect(step, because: "\(key.path) was written", askedFor: thing?.creation.map { [$0] } ?? [])
      { operation in
        guard case .comment(_, _, let text) = operation.intent else { return false }
        return text == after.text(.commentText) && operation.uid == after.text(.uid)
      }
      return
    }
    let author =
      step.before[.posts][ChildKey(key.post)].text(.uid)
      ?? model.posts[key.post]?.thing.creation?.uid
    let deletions =
      (thing?.deletions ?? []) + (model.posts[key.post]?.thing.deletions ?? [])
    expect(step, because: "\(key.path) was deleted", askedFor: deletions) { operation in
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

/// Every commit is one that the security rules allow to one of the participants.
///
/// The rules are evaluated here, on the data before the commit. A commit does not name its author:
/// it must be allowed to one of the users, under rules that were in force.
struct RulesOracle: Invariant {
  static let promises: [Promise] = [.g9]
  static let statement = "the rules allow somebody to make every commit"

  let evidence: Evidence
  var findings: Findings
  private let ruleSets: [RuleSet]
  private let people: [String]
  /// One in this many commits is checked.
  private let stride: Int
  private var count = 0

  init(evidence: Evidence, findings: Findings) {
    self.evidence = evidence
    self.findings = findings
    let changed = evidence.history.lines.compactMap { line in
      if case .rules(let source) = line.event { source } else { nil }
    }
    var sources: [String] = []
    for source in evidence.commits.rules + changed where !sources.contains(source) {
      sources.append(source)
    }
    ruleSets = sources.compactMap { try? RuleSet(source: $0) }
    people = evidence.history.uids.sorted()
    stride = max(1, evidence.commits.commitCount / max(1, evidence.options.ruledCommits))
  }

  mutating func observe(_ step: Step) {
    guard !ruleSets.isEmpty, !step.isJump, let timestamp = step.timestamp else { return }
    count += 1
    guard count % stride == 0 else { return }
    let paths = step.changes.map(\.path).filter { !evidence.model.isAdministered($0) }
    guard !paths.isEmpty else { return }
    let isAllowed = candidates(step).contains { uid in
      ruleSets.contains { rules in
        rules.canWrite(
          paths,
          by: RuleSubject(.object(("uid", .string(uid)))),
          now: timestamp,
          from: step.before,
          to: step.after
        ).isAllowed
      }
    }
    findings.expect(
      isAllowed,
      at: step.location,
      otherwise: "the rules allow nobody to make this commit"
    ) {
      ["changes at \(paths.prefix(8).map(\.description))"]
    }
  }

  mutating func conclude() {
    guard !ruleSets.isEmpty else { return }
    for client in evidence.history.clients where client.header.role != .driver {
      for (view, _) in client.finalViews.values {
        let isAllowed = ruleSets.contains { rules in
          rules.canRead(
            Path(wire: view.path),
            query: view.query,
            by: RuleSubject(.object(("uid", .string(client.header.uid)))),
            now: client.header.wallClock,
            root: evidence.finalRoot
          ).isAllowed
        }
        findings.expect(
          isAllowed,
          at: client.header.client,
          otherwise: "it shows \(view.path), which the rules hide from \(client.header.uid)"
        )
      }
    }
  }

  /// The user to whom a path belongs, if only that user writes there, as for presence.
  ///
  /// Terminals that watch write there as well, and have no history.
  private static func owner(of path: Path) -> String? {
    switch path.first?.text {
    case "presence", "reading", "seen", "users", "following", "muted", "blocked", "bookmarks",
      "searches":
      path.keys.dropFirst().first?.text
    case "typing": path.keys.dropFirst(2).first?.text
    default: nil
    }
  }

  /// The users, starting with those named in the commit.
  private func candidates(_ step: Step) -> [String] {
    var likely = step.changes.compactMap { Self.owner(of: $0.path) }
    for change in step.changes {
      let names =
        change.path.keys.map(\.text)
        + [change.node.text(.uid), step.before[change.path].text(.uid)]
        .compactMap(\.self)
      likely += names.filter { evidence.history.uids.contains($0) }
      likely += Self.changedStars(at: change.path, by: step).filter {
        evidence.history.uids.contains($0)
      }
    }
    return likely + people
  }

  /// The users whose stars are added or removed by a change of a whole post.
  private static func changedStars(at path: Path, by step: Step) -> [String] {
    let (before, after) = (step.before[path][.stars], step.after[path][.stars])
    return before.differences(from: after).map(\.text)
  }
}
