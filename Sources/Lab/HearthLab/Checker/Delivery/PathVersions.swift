import RealtimeCore

/// All states of each post, each comment and some other paths, in the order of the commits.
struct PathVersions: Sendable {
  /// A path after a commit.
  struct Version: Sendable {
    let revision: Int64
    /// When the observer read the commit, which was made then or earlier.
    let seen: Moment
  }

  /// The states of one path; the first is the state before the run.
  struct States: Sendable {
    private(set) var versions: [Version] = []
    private var byHash: [String: [Int]] = [:]
    private var byChange: [String: [Int]] = [:]

    /// The hash of an empty path.
    static let nothing = ""

    init(_ first: Version, hash: String) { add(first, hash: hash, changes: nil) }

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

    mutating func add(_ version: Version, hash: String, changes: JSONValue?) {
      byHash[hash, default: []].append(versions.count)
      if let changes { byChange[changes.text, default: []].append(versions.count) }
      versions.append(version)
    }
  }

  private var states: [Path: States] = [:]
  private var below: [Path: [Path]] = [:]
  private let first: Version
  /// The other paths whose states are kept.
  private let others: [Path]
  /// Whether commits were missed, so that a client may have been told unknown states.
  private(set) var hasGaps = false
  /// The largest number of posts at any time.
  private(set) var mostPosts: Int

  init(_ commits: CommitHistory, and paths: Set<Path> = []) {
    others = paths.filter { !$0.isOfPostOrComment }
    first = Version(revision: commits.revision, seen: .distantPast)
    mostPosts = commits.root[.posts].childCount
    for (key, post) in commits.root[.posts].entries {
      begin(Path([.posts, key]), hash: post.hash)
    }
    for (post, comments) in commits.root[.postComments].entries {
      for (key, comment) in comments.entries {
        begin(Path([.postComments, post, key]), hash: comment.hash)
      }
    }
    for path in others {
      let node = commits.root[path]
      begin(path, hash: node.isEmpty ? States.nothing : node.hash)
    }
  }

  func states(at path: Path) -> States { states[path] ?? States(first, hash: States.nothing) }

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

extension Path {
  /// Whether it is the path of a post or of a comment.
  fileprivate var isOfPostOrComment: Bool {
    first == .posts && count == 2 || first == .postComments && count == 3
  }
}

/// Reasons why a client was not told something, or not in time.
struct Disturbances: Sendable {
  /// A time during which a process could do nothing.
  private struct Span: Sendable {
    let start: Moment
    let end: Moment
  }

  /// The faults that the driver injected into the client, as lines of a history.
  let faults: [HistoryLine]
  private var stalls: [Span] = []
  private var coalescing: [Span] = []

  init(of client: ClientHistory, by driver: ClientHistory?) {
    let lines = driver?.lines ?? []
    faults = lines.filter { line in
      if case .fault(_, client.header.client, _) = line.event { true } else { false }
    }
    for line in lines + client.lines {
      switch line.event {
      case .stalled(let microseconds): stalls.append(Self.span(microseconds, until: line.time))
      case .coalesced(let microseconds):
        coalescing.append(Self.span(microseconds, until: line.time))
      default: break
      }
    }
    coalescing += Self.pauses(of: client, during: lines)
  }

  /// How long the servers of a cluster may take to find the next leader after a fault is over.
  private static let succession = Duration.seconds(15)
  /// The shortest pause of a client that is taken for the change of a leader.
  private static let shortestPause = Duration.seconds(1)

  /// The pauses in which servers may have looked for the next leader: a client that stays connected
  /// is then sent the newest data.
  private static func pauses(of client: ClientHistory, during lines: [HistoryLine]) -> [Span] {
    var troubles: [Span] = []
    var starts: [String: Moment] = [:]
    for line in lines {
      guard case .fault(let name, "server", let isOver) = line.event else { continue }
      if !isOver {
        starts[name] = line.time
      } else if let start = starts.removeValue(forKey: name) {
        troubles.append(Span(start: start, end: line.time.advanced(by: succession)))
      }
    }
    troubles += starts.values.map { Span(start: $0, end: .distantFuture) }
    let told = client.lines.filter { line in
      if case .told(let telling) = line.event, case .child(_?, _) = telling.content {
        true
      } else {
        false
      }
    }.map(\.time)
    return zip(told, told.dropFirst()).filter { start, end in
      end.since(start) >= shortestPause
        && troubles.contains { $0.start <= end && start <= $0.end }
    }.map { Span(start: $0, end: $1) }
  }

  private static func span(_ microseconds: Int64, until end: Moment) -> Span {
    Span(start: end.advanced(by: .microseconds(-microseconds)), end: end)
  }

  /// How long the machine stalled the client or the driver within a period.
  func stalled(from start: Moment, to end: Moment) -> Duration {
    stalls.reduce(.zero) { sum, span in
      let (first, last) = (max(start, span.start), min(end, span.end))
      return first < last ? sum + last.since(first) : sum
    }
  }

  /// Whether the server may have omitted a change because a client did not keep up.
  ///
  /// - Parameters:
  ///   - start: When the change was made.
  ///   - end: When the client was told of a later one, which on a busy machine may be long after.
  ///   - tolerance: How much the times may be wrong.
  /// - Returns: Whether it may have done so between these times.
  func mayHaveCoalesced(from start: Moment, to end: Moment, within tolerance: Duration) -> Bool {
    coalescing.contains {
      $0.start.advanced(by: .zero - tolerance) <= end && start <= $0.end.advanced(by: tolerance)
    }
  }
}
