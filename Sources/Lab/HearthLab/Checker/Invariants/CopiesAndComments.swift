import RealtimeCore

/// A post is equal to its copy among the posts of its author, and neither exists without the other.
///
/// If stars are written to the two paths in two commits, they agree only at the end.
struct CopiesAgree: Invariant {
  static let promises: [Promise] = [.i2]
  static let statement = "a post and its copy are equal, field by field"

  let evidence: Evidence
  var findings: Findings

  mutating func observe(_ step: Step) {
    for post in step.touched.posts {
      check(
        post,
        in: step.after,
        before: step.before,
        at: step.location,
        except: evidence.history.followingFields
      )
    }
    for copy in step.touched.copies { checkOwner(of: copy, in: step.after, at: step.location) }
  }

  mutating func conclude() {
    let root = evidence.finalRoot
    for post in root[.posts].keys {
      check(post, in: root, before: root, at: "at the end", except: [])
    }
    for (owner, posts) in root[.userPosts].entries {
      for post in posts.keys {
        checkOwner(of: TouchedPaths.Copy(owner: owner, post: post), in: root, at: "at the end")
      }
    }
  }

  /// Compares a post with its author's copy.
  private mutating func check(
    _ id: ChildKey,
    in root: Node,
    before: Node,
    at location: String,
    except ignored: Set<ChildKey>
  ) {
    let post = root[.posts][id]
    let author = (post.isEmpty ? before[.posts][id] : post).text(.uid)
    guard let author else {
      findings.expect(post.isEmpty, at: location, otherwise: "/posts/\(id) has no author")
      return
    }
    let path = Path([.userPosts, ChildKey(author), id])
    let copy = root[path]
    let differences = post.differences(from: copy).filter { !ignored.contains($0) }
    findings.expect(
      differences.isEmpty && post.isEmpty == copy.isEmpty,
      at: location,
      otherwise: "/posts/\(id) and \(path) differ in "
        + "\(differences.map(\.text).joined(separator: ", "))"
    ) { ["post: \(post.summary)", "copy: \(copy.summary)"] }
  }

  /// Checks that a copy belongs to a post of its owner.
  private mutating func checkOwner(of copy: TouchedPaths.Copy, in root: Node, at location: String) {
    guard !root[.userPosts][copy.owner][copy.post].isEmpty else { return }
    findings.expect(
      root[.posts][copy.post].text(.uid) == copy.owner.text,
      at: location,
      otherwise: "/user-posts/\(copy.owner)/\(copy.post) copies no post of \(copy.owner)"
    )
  }
}

/// At the end each acknowledged comment exists once, as it was written, and no other comment
/// exists.
struct CommentsComplete: Invariant {
  static let promises: [Promise] = [.i3]
  static let statement = "no comment is lost, duplicated or made up"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    let root = evidence.finalRoot
    let model = evidence.model
    model.compareComments(at: evidence.end, with: &findings)
    var paths: [String: String] = [:]
    for (post, comments) in root[.postComments].entries {
      for (key, comment) in comments.entries {
        let id = CommentKey(post: post.text, comment: key.text)
        let isKnown =
          model.comments[id]?.creation != nil || !model.initial[id.path].isEmpty
          || model.isAdministered(id.path)
        findings.expect(isKnown, at: "at the end", otherwise: "\(id.path) was written by nobody") {
          [comment.summary]
        }
        guard model.comments[id] != nil, let text = comment.text(.commentText) else {
          continue
        }
        let other = paths.updateValue("\(id.path)", forKey: text)
        findings.expect(other == nil, at: "at the end", otherwise: "a comment exists twice") {
          ["\(id.path)", other ?? "", "text: \(text)"]
        }
      }
    }
  }
}

/// An update of several paths is one commit; no commit contains only half of it.
struct AtomicUpdates: Invariant {
  static let promises: [Promise] = [.g4]
  static let statement = "an update of several paths is never seen in part"

  let evidence: Evidence
  var findings: Findings

  mutating func observe(_ step: Step) {
    guard !step.isJump else { return }
    for post in step.touched.posts { check(post, after: step) }
  }

  private mutating func check(_ id: ChildKey, after step: Step) {
    let path = Path([.posts, id])
    let (before, after) = (step.before[path], step.after[path])
    guard !evidence.model.isAdministered(path),
      let author = before.text(.uid) ?? after.text(.uid)
    else { return }
    let copyPath = Path([.userPosts, ChildKey(author), id])
    let (oldCopy, newCopy) = (step.before[copyPath], step.after[copyPath])
    let ignored = evidence.history.followingFields
    let inPost = Set(before.differences(from: after)).subtracting(ignored)
    let inCopy = Set(oldCopy.differences(from: newCopy)).subtracting(ignored)
    findings.expect(
      inPost == inCopy,
      at: step.location,
      otherwise: "post \(id) and its copy did not change together"
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
      at: step.location,
      otherwise:
        "post \(id) was deleted, but not \(Words.count(comments.childCount, "comment")) on it"
    )
  }
}

extension History {
  /// The fields of a post that its copy may be given in a later commit.
  fileprivate var followingFields: Set<ChildKey> { isAtomic ? [] : [.stars, .starCount] }
}
