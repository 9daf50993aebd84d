import RealtimeCore

/// Each write takes effect once, also when its answer was lost or its client was killed.
///
/// Nothing comes back that was deleted, and every star and title is one that may have been the last.
struct ExactlyOnce: Invariant {
  static let promises: [Promise] = [.i12, .g3]
  static let statement = "each write takes effect once or is refused"

  private let evidence: Evidence
  private var appeared: [Path: Int64] = [:]
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func observe(_ step: Step) {
    guard !step.isJump else { return }
    for path in step.appearances {
      let earlier = appeared.updateValue(step.revision, forKey: path)
      findings.expect(
        earlier == nil && evidence.reckoning.initial[path].isEmpty
          || evidence.reckoning.isAdministered(path),
        at: step.place,
        "\(path) appears a second time"
      ) {
        ["first at revision \(earlier ?? evidence.testimony.revision)", step.after[path].summary]
      }
    }
  }

  mutating func conclude() {
    let reckoning = evidence.reckoning
    let root = evidence.finalRoot
    reckoning.comparePosts(in: root, at: .end, "at the end", &findings)
    reckoning.compareStars(in: root, at: .end, "at the end", &findings)
    // Without gaps the commits say of every acknowledged write that it took effect.
    guard evidence.testimony.gapCount == 0 else { return }
    for (key, thing) in reckoning.comments {
      expectAppearance(of: key.path, thing.creation)
    }
    for (key, post) in reckoning.posts {
      expectAppearance(of: Path([.posts, ChildKey(key)]), post.thing.creation)
    }
  }

  private mutating func expectAppearance(of path: Path, _ creation: ClientOperation?) {
    guard let creation, creation.isAcknowledged || creation.isRefused else { return }
    let revision = appeared[path]
    guard evidence.reckoning.initial[path].isEmpty else { return }
    findings.expect(
      (revision != nil) == creation.isAcknowledged,
      at: revision.map { "revision \($0)" } ?? "in all revisions",
      creation.isAcknowledged
        ? "an acknowledged write has never taken effect" : "a refused write has taken effect"
    ) { ["\(path)", "\(creation)"] }
  }
}
