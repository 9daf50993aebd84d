import RealtimeCore

/// Every state that each post and each comment has had, in the order of the commits.
struct PlaceVersions: Sendable {
  /// A place after a commit.
  struct Version: Sendable {
    let revision: Int64
    /// When the witness had it; it was made then or before.
    let seen: Moment
  }

  /// The states of one place; the first is that before the run.
  struct States: Sendable {
    private(set) var versions: [Version] = []
    private var byHash: [String: [Int]] = [:]
    private var byChange: [String: [Int]] = [:]

    /// The hash of a place where nothing is.
    static let nothing = ""

    init(_ first: Version, hash: String) { add(first, hash: hash, changes: nil) }

    /// The states, in ascending order, that have a hash.
    func indices(hash: String) -> [Int] { byHash[hash] ?? [] }

    /// The states, in ascending order, that came about by a change.
    func indices(changes: JSONValue) -> [Int] { byChange[changes.text] ?? [] }

    mutating func add(_ version: Version, hash: String, changes: JSONValue?) {
      byHash[hash, default: []].append(versions.count)
      if let changes { byChange[changes.text, default: []].append(versions.count) }
      versions.append(version)
    }
  }

  private var states: [Path: States] = [:]
  private var below: [Path: [Path]] = [:]
  private let first: Version
  /// Whether commits were missed, so that something may have been told that nobody knows.
  private(set) var hasGaps = false
  /// How many posts there were at most.
  private(set) var mostPosts: Int

  init(_ testimony: Testimony) {
    first = Version(revision: testimony.revision, seen: .distantPast)
    mostPosts = testimony.root[.posts].childCount
    for (key, post) in testimony.root[.posts].entries {
      begin(Path([.posts, key]), hash: post.hash)
    }
    for (post, comments) in testimony.root[.postComments].entries {
      for (key, comment) in comments.entries {
        begin(Path([.postComments, post, key]), hash: comment.hash)
      }
    }
  }

  /// The states of a place.
  func states(at path: Path) -> States { states[path] ?? States(first, hash: States.nothing) }

  /// The places below a location at which there was ever something.
  func places(below path: Path) -> [Path] { below[path] ?? [] }

  mutating func observe(_ step: Step) {
    if step.isJump { hasGaps = true }
    mostPosts = max(mostPosts, step.after[.posts].childCount)
    for post in step.touched.posts { note(Path([.posts, post]), step) }
    for comment in step.touched.comments {
      note(Path([.postComments, comment.post, comment.comment]), step)
    }
  }

  private mutating func note(_ path: Path, _ step: Step) {
    let (before, after) = (step.before[path], step.after[path])
    guard before != after else { return }
    if states[path] == nil { begin(path, hash: States.nothing) }
    let isChange = !before.isEmpty && !after.isEmpty
    states[path]?.add(
      Version(revision: step.revision, seen: step.seen),
      hash: after.isEmpty ? States.nothing : after.hash,
      changes: isChange ? after.changedValues(from: before) : nil
    )
  }

  private mutating func begin(_ path: Path, hash: String) {
    states[path] = States(first, hash: hash)
    if let parent = path.parent { below[parent, default: []].append(path) }
  }
}
