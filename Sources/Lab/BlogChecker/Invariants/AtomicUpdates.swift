import RealtimeCore

/// What is written at several places at once is committed at once: no commit has half of it.
struct AtomicUpdates: Invariant {
  static let promises: [Promise] = [.g4]
  static let statement = "an update of several places is never seen by halves"

  private let isAtomic: Bool
  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    isAtomic = evidence.history.isAtomic
  }

  mutating func observe(_ step: Step) {
    guard !step.isJump else { return }
    for post in step.touched.posts { check(post, step) }
  }

  private mutating func check(_ id: ChildKey, _ step: Step) {
    let path = Path([.posts, id])
    let (before, after) = (step.before[path], step.after[path])
    guard !evidence.reckoning.isAdministered(path),
      let author = before.text(.uid) ?? after.text(.uid)
    else { return }
    let copyPath = Path([.userPosts, ChildKey(author), id])
    let (oldCopy, newCopy) = (step.before[copyPath], step.after[copyPath])
    let ignored: Set<ChildKey> = isAtomic ? [] : [.stars, .starCount]
    let inPost = Set(before.differences(from: after)).subtracting(ignored)
    let inCopy = Set(oldCopy.differences(from: newCopy)).subtracting(ignored)
    findings.expect(
      inPost == inCopy,
      at: step.place,
      "post \(id) and its copy did not change together"
    ) {
      [
        "post: \(inPost.map(\.text).sorted())", "copy: \(inCopy.map(\.text).sorted())",
        "changes at \(step.changes.prefix(8).map(\.path.description))",
      ]
    }
    guard after.isEmpty, !before.isEmpty else { return }
    let comments = step.after[Path([.postComments, id])]
    findings.expect(
      comments.isEmpty,
      at: step.place,
      "post \(id) was deleted, but \(comments.childCount) of its comments were not"
    )
  }
}
