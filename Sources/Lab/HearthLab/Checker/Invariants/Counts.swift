import RealtimeCore

/// A post's star count is the number of its stars, at every commit and in everything that was
/// shown.
///
/// A client that uses increments shows an estimate until the server has answered, because it does
/// not know the value that the server adds to. Such a state has no version, and is skipped.
struct StarCounts: Invariant {
  static let promises: [Promise] = [.i1]
  static let statement = "every starCount equals the number of stars"

  let evidence: Evidence
  var findings: Findings

  mutating func observe(_ step: Step) {
    for post in step.touched.posts { check(Path([.posts, post]), after: step) }
    for copy in step.touched.copies {
      check(Path([.userPosts, copy.owner, copy.post]), after: step)
    }
  }

  private mutating func check(_ path: Path, after step: Step) {
    let post = step.after[path]
    guard !post.isEmpty, post != step.before[path] || step.isJump else { return }
    findings.expect(
      post.starCount == post[.stars].childCount,
      at: step.location,
      otherwise:
        "\(path) says starCount \(post[.starCount].summary), but has "
        + Words.count(post[.stars].childCount, "star")
    ) { ["before: \(step.before[path].summary)", "after: \(post.summary)"] }
    for (uid, star) in post[.stars].entries {
      findings.expect(
        star.leafValue == .bool(true),
        at: step.location,
        otherwise: "\(path)/stars/\(uid) is \(star.summary), not true"
      )
    }
  }

  mutating func conclude() {
    for client in evidence.history.clients {
      for line in client.lines {
        guard case .shown(let showing) = line.event,
          case .post(let post, let count, let stars, _, let version) = showing.content,
          // A pending increment is shown as an estimate, which has no version.
          version != nil || !client.header.strategy.isAtomic
        else { continue }
        findings.expect(
          count == stars,
          at: showing.location(at: client),
          otherwise:
            "post \(post) was shown with starCount \(count) and "
            + Words.count(stars, "star")
        )
      }
    }
  }
}

/// A number that is only incremented is the sum of the acknowledged increments, and perhaps of
/// unknown ones.
struct CounterSums: Invariant {
  static let promises: [Promise] = [.i5]
  static let statement = "a counter is the sum of its acknowledged increments"

  private struct Sum {
    var acknowledged: Int64 = 0
    var least: Int64 = 0
    var most: Int64 = 0
    var unknown: [String] = []
  }

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    var sums: [Path: Sum] = [:]
    for operation in evidence.history.operations {
      guard case .increment(let path, let amount) = operation.intent else { continue }
      let counter = Path(wire: path)
      switch operation.outcome {
      case .refused: continue
      case .ok: sums[counter, default: Sum()].acknowledged += amount
      case .unknown:
        sums[counter, default: Sum()].unknown.append("\(operation)")
        if amount < 0 {
          sums[counter, default: Sum()].least += amount
        } else {
          sums[counter, default: Sum()].most += amount
        }
      }
    }
    for (path, sum) in sums.sorted(by: { $0.key < $1.key }) {
      let start = Self.number(at: path, of: evidence.commits.root)
      let end = Self.number(at: path, of: evidence.finalRoot)
      let settled = (start ?? 0) + sum.acknowledged
      let range = settled + sum.least...settled + sum.most
      findings.expect(
        end.map(range.contains) ?? false,
        at: "\(path)",
        otherwise: "the number is \(end.map(String.init) ?? "missing"), and must be "
          + (range.count == 1
            ? "\(settled)" : "between \(range.lowerBound) and \(range.upperBound)")
      ) { ["\(start ?? 0) at the beginning, \(sum.acknowledged) acknowledged"] + sum.unknown }
    }
  }

  /// The number at a path; a missing value counts as 0.
  private static func number(at path: Path, of root: Node) -> Int64? {
    let node = root[path]
    return node.isEmpty ? 0 : node.leafValue?.number.flatMap { Int64(exactly: $0) }
  }
}

/// Each write takes effect once, even if its answer was lost or its client was killed.
///
/// Nothing deleted comes back, and every star and title matches a write that may have been the
/// last.
struct ExactlyOnce: Invariant {
  static let promises: [Promise] = [.i12, .g3]
  static let statement = "each write takes effect once or is refused"

  let evidence: Evidence
  var findings: Findings
  private var appeared: [Path: Int64] = [:]

  init(evidence: Evidence, findings: Findings) {
    self.evidence = evidence
    self.findings = findings
  }

  mutating func observe(_ step: Step) {
    guard !step.isJump else { return }
    for path in step.appearances {
      let earlier = appeared.updateValue(step.revision, forKey: path)
      findings.expect(
        earlier == nil && evidence.model.initial[path].isEmpty
          || evidence.model.isAdministered(path),
        at: step.location,
        otherwise: "\(path) appears a second time"
      ) {
        ["first at revision \(earlier ?? evidence.commits.revision)", step.after[path].summary]
      }
    }
  }

  mutating func conclude() {
    let model = evidence.model
    model.comparePosts(at: evidence.end, with: &findings)
    model.compareStars(at: evidence.end, with: &findings)
    // Without gaps, the commits show that every acknowledged write took effect.
    guard evidence.commits.gapCount == 0 else { return }
    for (key, thing) in model.comments {
      expectAppearance(of: key.path, thing.creation)
    }
    for (key, post) in model.posts {
      expectAppearance(of: Path([.posts, ChildKey(key)]), post.thing.creation)
    }
  }

  private mutating func expectAppearance(of path: Path, _ creation: ClientOperation?) {
    guard let creation, creation.isAcknowledged || creation.isRefused else { return }
    let revision = appeared[path]
    guard evidence.model.initial[path].isEmpty else { return }
    findings.expect(
      (revision != nil) == creation.isAcknowledged,
      at: revision.map { "revision \($0)" } ?? "in all revisions",
      otherwise: creation.isAcknowledged
        ? "an acknowledged write has never taken effect" : "a refused write has taken effect"
    ) { ["\(path)", "\(creation)"] }
  }
}
