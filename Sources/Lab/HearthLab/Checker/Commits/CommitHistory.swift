import RealtimeCore
import RealtimeServer

/// What an observer saw of the database, independently of the clients.
struct CommitHistory: Sendable {
  enum Entry: Sendable {
    /// The next commit, and when the observer read it: at the time of the commit or later.
    case commit(Commit, seen: Moment)
    /// Commits were missed, and the whole database was read again.
    case jump(Node, revision: Int64, seen: Moment)
    /// The server ended between two moments; the entries so far contain everything it had
    /// committed.
    case crash(after: Moment, before: Moment)
  }

  var root = Node.empty
  /// The number of the last commit before the start.
  var revision: Int64 = 0
  /// The observations, in chronological order.
  var entries: [Entry] = []
  /// All data at the end, read as a whole rather than computed from the commits.
  var finalRoot: Node
  /// The last commit in the final data, or nil when that is unknown.
  var finalRevision: Int64?
  /// The security rules that were in force at any time.
  var rules: [String] = []
  /// Whether commits have the server's revision numbers; a stream of events has none.
  var hasRevisions = true

  var commitCount: Int {
    entries.count { if case .commit = $0 { true } else { false } }
  }

  var gapCount: Int {
    entries.count { if case .jump = $0 { true } else { false } }
  }
}

/// Replays all commits in order.
struct Replay: Sequence, IteratorProtocol {
  enum Event {
    case step(Step)
    case crash(Standstill)
  }

  private var entries: [CommitHistory.Entry].Iterator
  private var root: Node
  private var revision: Int64
  /// Whether commits have timestamps; those from a stream of events do not.
  private let hasTimes: Bool

  init(_ commits: CommitHistory) {
    entries = commits.entries.makeIterator()
    root = commits.root
    revision = commits.revision
    hasTimes = commits.hasRevisions
  }

  mutating func next() -> Event? {
    switch entries.next() {
    case nil: return nil
    case .commit(let commit, let seen)?:
      return .step(advance(by: commit, seen: seen, isJump: false))
    case .jump(let node, let revision, let seen)?:
      let all = Commit(revision: revision, timestamp: 0, changes: [Change(.root, to: node)])
      return .step(advance(by: all, seen: seen, isJump: true))
    case .crash(let after, let before)?:
      return .crash(
        Standstill(
          root: root,
          period: Period(start: after, end: before),
          location: "when the server had ended at revision \(revision)"
        )
      )
    }
  }

  private mutating func advance(by commit: Commit, seen: Moment, isJump: Bool) -> Step {
    let before = root
    for change in commit.changes { root.update(at: change.path, to: change.node) }
    revision = commit.revision
    return Step(
      revision: revision,
      timestamp: hasTimes && !isJump ? commit.timestamp : nil,
      seen: seen,
      before: before,
      after: root,
      changes: commit.changes,
      isJump: isJump,
      touched: TouchedPaths(commit.changes.map(\.path), before: before, after: root)
    )
  }
}

/// One commit with the data before and after it, or several that were missed between two reads.
struct Step: Sendable {
  let revision: Int64
  /// When the server made the commit, in milliseconds since 1970, or nil when that is unknown.
  let timestamp: Int64?
  /// When the observer read the commit, which was made then or earlier.
  let seen: Moment
  let before: Node
  let after: Node
  /// What changed; the whole data when commits were missed.
  let changes: [Change]
  /// Whether the step stands for several commits of which only the result is known.
  let isJump: Bool
  /// The parts of the blog that may have changed.
  let touched: TouchedPaths

  /// The posts and comments that did not exist before.
  var appearances: [Path] {
    let posts = touched.posts.map { Path([.posts, $0]) }
    let paths = posts + touched.comments.map(\.path)
    return paths.filter { before[$0].isEmpty && !after[$0].isEmpty }
  }

  /// The name of the step in a report.
  var location: String { isJump ? "up to revision \(revision)" : "revision \(revision)" }
}

/// What is stored while no server writes: after a crash, or at the end.
struct Standstill: Sendable {
  let root: Node
  let period: Period
  /// The name of that time in a report.
  let location: String
}

/// The posts, copies and comments that a commit may have changed.
struct TouchedPaths: Sendable {
  struct Copy: Hashable, Sendable {
    let owner: ChildKey
    let post: ChildKey
  }

  /// The posts, including those of which a copy was touched.
  private(set) var posts: Set<ChildKey> = []
  private(set) var copies: Set<Copy> = []
  private(set) var comments: Set<CommentKey> = []

  init(_ paths: [Path], before: Node, after: Node) {
    for path in paths {
      let roots = [ChildKey.posts, .userPosts, .postComments].map { Path([$0]) }
      for path in path.isRoot ? roots : [path] { touch(path, before: before, after: after) }
    }
    posts.formUnion(copies.map(\.post))
  }

  private mutating func touch(_ path: Path, before: Node, after: Node) {
    /// The key of a path at a depth, or all existing keys if the path is shorter.
    func keys(_ depth: Int, at parent: Path) -> [ChildKey] {
      if path.count > depth { return [path.keys[depth]] }
      return Array(Set(before[parent].keys).union(after[parent].keys))
    }
    switch path.first {
    case .posts?: posts.formUnion(keys(1, at: path))
    case .userPosts?:
      for owner in keys(1, at: Path([.userPosts])) {
        for post in keys(2, at: Path([.userPosts, owner])) {
          copies.insert(Copy(owner: owner, post: post))
        }
      }
    case .postComments?:
      for post in keys(1, at: Path([.postComments])) {
        for comment in keys(2, at: Path([.postComments, post])) {
          comments.insert(CommentKey(post: post.text, comment: comment.text))
        }
      }
    default: break
    }
  }
}
