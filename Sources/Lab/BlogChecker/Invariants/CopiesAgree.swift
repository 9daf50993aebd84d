import RealtimeCore

/// A post and the copy of it among the posts of its author are equal, and neither is without the other.
///
/// Where a star comes into the two places with two commits, their stars agree at the end only.
struct CopiesAgree: Invariant {
  static let promises: [Promise] = [.i2]
  static let statement = "a post and its copy are equal, field by field"

  private let evidence: Evidence
  private let following: Set<ChildKey>
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    following = evidence.history.isAtomic ? [] : [.stars, .starCount]
  }

  mutating func observe(_ step: Step) {
    for post in step.touched.posts {
      check(post, in: step.after, before: step.before, step.place, except: following)
    }
    for copy in step.touched.copies { checkOwner(copy, in: step.after, step.place) }
  }

  mutating func conclude() {
    let root = evidence.finalRoot
    for post in root[.posts].keys { check(post, in: root, before: root, "at the end", except: []) }
    for (owner, posts) in root[.userPosts].entries {
      for post in posts.keys {
        checkOwner(TouchedPlaces.Copy(owner: owner, post: post), in: root, "at the end")
      }
    }
  }

  /// Compares a post with the copy at its author.
  private mutating func check(
    _ id: ChildKey,
    in root: Node,
    before: Node,
    _ place: String,
    except ignored: Set<ChildKey>
  ) {
    let post = root[.posts][id]
    let author = (post.isEmpty ? before[.posts][id] : post).text(.uid)
    guard let author else {
      findings.expect(post.isEmpty, at: place, "/posts/\(id) has no author")
      return
    }
    let path = Path([.userPosts, ChildKey(author), id])
    let copy = root[path]
    let differences = post.differences(from: copy).filter { !ignored.contains($0) }
    findings.expect(
      differences.isEmpty && post.isEmpty == copy.isEmpty,
      at: place,
      "/posts/\(id) and \(path) differ in "
        + "\(differences.map(\.text).joined(separator: ", "))"
    ) { ["post: \(post.summary)", "copy: \(copy.summary)"] }
  }

  /// Checks that a copy belongs to a post of its owner.
  private mutating func checkOwner(_ copy: TouchedPlaces.Copy, in root: Node, _ place: String) {
    guard !root[.userPosts][copy.owner][copy.post].isEmpty else { return }
    findings.expect(
      root[.posts][copy.post].text(.uid) == copy.owner.text,
      at: place,
      "/user-posts/\(copy.owner)/\(copy.post) is a copy of no post of \(copy.owner)"
    )
  }
}
