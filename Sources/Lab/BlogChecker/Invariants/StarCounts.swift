import RealtimeCore

/// The count of a post is the number of its stars, at every commit and in everything that was shown.
///
/// What a client of increments shows before the server has answered is a guess: it does not know what
/// the server will add to. Such a state has no version, and is left out.
struct StarCounts: Invariant {
  static let promises: [Promise] = [.i1]
  static let statement = "every starCount is the number of its stars"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func observe(_ step: Step) {
    for post in step.touched.posts { check(Path([.posts, post]), step) }
    for copy in step.touched.copies { check(Path([.userPosts, copy.owner, copy.post]), step) }
  }

  private mutating func check(_ path: Path, _ step: Step) {
    let post = step.after[path]
    guard !post.isEmpty, post != step.before[path] || step.isJump else { return }
    findings.expect(
      post.starCount == post[.stars].childCount,
      at: step.place,
      "\(path) says starCount \(post[.starCount].summary), but has \(post[.stars].childCount) stars"
    ) { ["before: \(step.before[path].summary)", "after: \(post.summary)"] }
    for (uid, star) in post[.stars].entries {
      findings.expect(
        star.leafValue == .bool(true),
        at: step.place,
        "\(path)/stars/\(uid) is \(star.summary) and not true"
      )
    }
  }

  mutating func conclude() {
    for client in evidence.history.clients {
      for line in client.lines {
        guard case .shown(let showing) = line.event,
          case .post(let post, let count, let stars, _, let version) = showing.content,
          // An increment that waits for the server is a guess; without a version there is one.
          version != nil || !client.header.strategy.isAtomic
        else { continue }
        findings.expect(
          count == stars,
          at: "\(client.header.client), \(showing.view), event \(showing.order)",
          "post \(post) was shown with starCount \(count) and \(stars) stars"
        )
      }
    }
  }
}
