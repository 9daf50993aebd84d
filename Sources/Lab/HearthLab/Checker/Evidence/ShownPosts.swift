import RealtimeCore

/// The posts that one client has shown, without those that it was writing itself.
///
/// Until the server has answered a write, the client shows the expected result, which may match no
/// commit.
struct ShownPosts: Sequence, IteratorProtocol {
  /// A post that was shown in the state that the database had.
  struct Element {
    /// How long the process had been running.
    let age: Duration
    /// The number of the client's process.
    let life: Int
    let view: String
    /// The name of the event in a report.
    let location: String
    let post: String
    let starCount: Int
    let stars: Int
    let version: String?
  }

  private let client: ClientHistory
  private var lines: [HistoryLine].Iterator
  /// How many operations on each post are under way; those of unknown outcome always are.
  private var underWay: [String: Int] = [:]
  private var life = 0
  private var start = Moment(microseconds: 0)

  init(_ client: ClientHistory) {
    self.client = client
    lines = client.lines.makeIterator()
  }

  mutating func next() -> Element? {
    while let line = lines.next() {
      switch line.event {
      case .started:
        life += 1
        start = line.time
      case .invoked(_, let intent):
        if let post = intent.post { underWay[post, default: 0] += 1 }
      case .answered(let number, .ok), .answered(let number, .refused):
        if let post = client.operation(number)?.intent.post { underWay[post, default: 0] -= 1 }
      case .shown(let showing):
        guard case .post(let post, let count, let stars, _, let version) = showing.content,
          underWay[post, default: 0] == 0
        else { continue }
        return Element(
          age: line.time.since(start),
          life: life,
          view: showing.view,
          location: showing.location(at: client),
          post: post,
          starCount: count,
          stars: stars,
          version: version
        )
      case .answered, .connection, .finalView, .screen, .fault, .server, .rules,
        .sample, .told, .stalled, .coalesced,
        .ended:
        continue
      }
    }
    return nil
  }
}

extension PathVersions {
  /// How something shown fits into the order of the commits.
  enum Fit {
    case follows(Int)
    case older(Version)
    case never
  }

  /// Finds the first state of a post, from a position on, that matches what was shown.
  func fit(_ shown: ShownPosts.Element, from position: Int = 0) -> Fit {
    let known = states(at: Path([.posts, ChildKey(shown.post)])).versions
    let next = known.indices.dropFirst(position).first { known[$0].isShown(as: shown) }
    if let next { return .follows(next) }
    return known.last { $0.isShown(as: shown) }.map(Fit.older) ?? .never
  }
}

extension PathVersions.Version {
  fileprivate func isShown(as shown: ShownPosts.Element) -> Bool {
    hash != PathVersions.States.nothing && starCount == shown.starCount && stars == shown.stars
      && shown.version.map { $0 == hash } ?? true
  }
}
