import RealtimeCore

/// All states of each post and each comment, in the order of the commits.
struct PathVersions: Sendable {
  /// A place after a commit.
  struct Version: Sendable {
    let revision: Int64
    /// When the observer had it; it was made then or before.
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

  init(_ commits: CommitHistory) {
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
  }

  /// The states of a place.
  func states(at path: Path) -> States { states[path] ?? States(first, hash: States.nothing) }

  /// The places below a location at which there was ever something.
  func paths(below path: Path) -> [Path] { below[path] ?? [] }

  mutating func observe(_ step: Step) {
    if step.isJump { hasGaps = true }
    mostPosts = max(mostPosts, step.after[.posts].childCount)
    for post in step.touched.posts { note(step, at: Path([.posts, post])) }
    for comment in step.touched.comments {
      note(step, at: Path([.postComments, comment.post, comment.comment]))
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

/// Reasons why a client was not told something, or not in time.
struct Disturbances: Sendable {
  /// A time during which somebody could do nothing.
  private struct Span: Sendable {
    let start: Moment
    let end: Moment
  }

  /// What was done to the client by the driver, as lines among its own.
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
  }

  private static func span(_ microseconds: Int64, until end: Moment) -> Span {
    Span(start: end.advanced(by: .microseconds(-microseconds)), end: end)
  }

  /// For how long within a period the machine stalled the client or the driver.
  func stalled(from start: Moment, to end: Moment) -> Duration {
    stalls.reduce(.zero) { sum, span in
      let (first, last) = (max(start, span.start), min(end, span.end))
      return first < last ? sum + last.since(first) : sum
    }
  }

  /// Whether the server may have left something out then, since a client did not keep up with it.
  func mayHaveCoalesced(at time: Moment, within tolerance: Duration) -> Bool {
    coalescing.contains {
      $0.start.advanced(by: .zero - tolerance) <= time && time <= $0.end.advanced(by: tolerance)
    }
  }
}
