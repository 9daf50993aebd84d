import RealtimeCore

/// At the end each acknowledged comment is there once, as it was written, and no other.
struct CommentsComplete: Invariant {
  static let promises: [Promise] = [.i3]
  static let statement = "no comment is lost, doubled or of nobody"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    let root = evidence.finalRoot
    let reckoning = evidence.reckoning
    reckoning.compareComments(in: root, at: .end, "at the end", &findings)
    var places: [String: String] = [:]
    for (post, comments) in root[.postComments].entries {
      for (key, comment) in comments.entries {
        let place = CommentKey(post.text, key.text)
        let isKnown =
          reckoning.comments[place]?.creation != nil || !reckoning.initial[place.path].isEmpty
          || reckoning.isAdministered(place.path)
        findings.expect(isKnown, at: "at the end", "\(place.path) was written by nobody") {
          [comment.summary]
        }
        guard reckoning.comments[place] != nil, let text = comment.text(.commentText) else {
          continue
        }
        let other = places.updateValue("\(place.path)", forKey: text)
        findings.expect(other == nil, at: "at the end", "a comment is there twice") {
          ["\(place.path)", other ?? "", "text: \(text)"]
        }
      }
    }
  }
}
