import RealtimeCore

/// All states of each post, each comment and some other paths, in the order of the commits.
struct PathVersions: Sendable {
  struct Version: Sendable {
    let revision: Int64
    /// When the observer read the commit, which was made then or earlier.
    let seen: Moment
    let hash: String
    let starCount: Int
    let stars: Int

    init(_ node: Node, revision: Int64, seen: Moment) {
      self.revision = revision
      self.seen = seen
      hash = node.isEmpty ? States.nothing : node.hash
      starCount = node.starCount ?? 0
      stars = node[.stars].childCount
    }
  }

  /// The states of one path; the first is the state before the run.
  struct States: Sendable {
    private(set) var versions: [Version] = []
    private var byHash: [String: [Int]] = [:]
    private var byChange: [String: [Int]] = [:]

    /// The hash of an empty path.
    static let nothing = ""

    init(_ first: Version) { add(first, changes: nil) }

    /// The indices of the states with a hash, in ascending order.
    func indices(hash: String) -> [Int] { byHash[hash] ?? [] }

    /// The indices of the states that resulted from a change, in ascending order.
    func indices(changes: JSONValue) -> [Int] { byChange[changes.text] ?? [] }

    /// The revision that first made this state, or nil if the path never had it.
    func oldest(hash: String) -> Int64? { indices(hash: hash).first.map { versions[$0].revision } }

    /// The last revision that left the path in this state, or nil if the path never had it.
    func newest(hash: String) -> Int64? {
      guard let index = indices(hash: hash).last else { return nil }
      return index + 1 < versions.count ? versions[index + 1].revision - 1 : .max
    }

    mutating func add(_ version: Version, changes: JSONValue?) {
      byHash[version.hash, default: []].append(versions.count)
      if let changes { byChange[changes.text, default: []].append(versions.count) }
      versions.append(version)
    }
  }

  private var states: [Path: States] = [:]
  private var below: [Path: [Path]] = [:]
  private let firstRevision: Int64
  /// The other paths whose states are kept.
  private let others: [Path]
  /// Whether commits were missed, so that a client may have been told or have shown unknown states.
  private(set) var hasGaps = false
  private(set) var mostPosts: Int

  init(_ commits: CommitHistory, and paths: Set<Path> = []) {
    others = paths.filter { !$0.isOfPostOrComment }
    firstRevision = commits.revision
    mostPosts = commits.root[.posts].childCount
    for (key, post) in commits.root[.posts].entries {
      begin(Path([.posts, key]), with: post)
    }
    for (post, comments) in commits.root[.postComments].entries {
      for (key, comment) in comments.entries {
        begin(Path([.postComments, post, key]), with: comment)
      }
    }
    for path in others { begin(path, with: commits.root[path]) }
  }

  func states(at path: Path) -> States { states[path] ?? first(with: .empty) }

  /// The states of a path that begins with some data.
  private func first(with node: Node) -> States {
    States(Version(node, revision: firstRevision, seen: .distantPast))
  }

  /// The paths below a path at which there was ever a value.
  func paths(below path: Path) -> [Path] { below[path] ?? [] }

  mutating func observe(_ step: Step) {
    if step.isJump { hasGaps = true }
    mostPosts = max(mostPosts, step.after[.posts].childCount)
    for post in step.touched.posts { note(step, at: Path([.posts, post])) }
    for comment in step.touched.comments { note(step, at: comment.path) }
    for path in others where step.changes.contains(where: { $0.path.overlaps(path) }) {
      note(step, at: path)
    }
  }

  private mutating func note(_ step: Step, at path: Path) {
    let (before, after) = (step.before[path], step.after[path])
    guard before != after else { return }
    if states[path] == nil { begin(path, with: .empty) }
    let isChange = !before.isEmpty && !after.isEmpty
    states[path]?.add(
      Version(after, revision: step.revision, seen: step.seen),
      changes: isChange ? after.changedValues(from: before) : nil
    )
  }

  private mutating func begin(_ path: Path, with node: Node) {
    states[path] = first(with: node)
    if let parent = path.parent { below[parent, default: []].append(path) }
  }
}

extension Path {
  fileprivate var isOfPostOrComment: Bool {
    first == .posts && count == 2 || first == .postComments && count == 3
  }
}

struct AnsweredRead: Sendable {
  let operation: ClientOperation
  let path: Path
  let server: String?
  let node: Node
  let hash: String

  init?(_ operation: ClientOperation) {
    guard case .read(let path, let server) = operation.intent,
      case .ok(let value) = operation.outcome, let node = try? Node(json: value ?? .null)
    else { return nil }
    self.operation = operation
    self.path = Path(wire: path)
    self.server = server
    self.node = node
    hash = node.isEmpty ? PathVersions.States.nothing : node.hash
  }
}
