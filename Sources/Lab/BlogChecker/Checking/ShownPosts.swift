/// Goes through what one client has shown of posts, and leaves out what it has under way itself.
///
/// Until the database has decided on a write, its client shows what it expects, which no commit has.
struct ShownPosts: Sequence, IteratorProtocol {
  /// A post that was shown as the database had it.
  struct Element {
    /// How long the process had been running.
    let age: Duration
    /// The number of the process.
    let life: Int
    let showing: Showing
    let post: String
    let starCount: Int
    let stars: Int
    let version: String?
  }

  private var lines: [HistoryLine].Iterator
  private let operations: [Int64: ClientOperation]
  /// How many operations on each post are under way; those of unknown outcome always are.
  private var underWay: [String: Int] = [:]
  private var life = 0
  private var start = Moment(microseconds: 0)

  init(_ client: ClientHistory) {
    lines = client.lines.makeIterator()
    operations = Dictionary(
      client.operations.map { ($0.number, $0) },
      uniquingKeysWith: { first, _ in first }
    )
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
        if let post = operations[number]?.intent.post { underWay[post, default: 0] -= 1 }
      case .shown(let showing):
        guard case .post(let post, let count, let stars, _, let version) = showing.content,
          underWay[post, default: 0] == 0
        else { continue }
        return Element(
          age: line.time.since(start),
          life: life,
          showing: showing,
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
