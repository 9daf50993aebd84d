import RealtimeCore
import RealtimeServer

/// Work whose instructions are counted: the same each time, with fixed data and no clock.
///
/// Counting begins and ends with ``perform()``, whose name `assets/scripts/instructions` passes to
/// callgrind; the preparation does not count.
final class InstructionArea {
  private let work: () throws -> Void
  static let names = ["parser", "tree", "rules", "put", "store"]

  /// Prepares the work of an area; nil when there is none of this name.
  init?(_ name: String, in environment: BenchmarkEnvironment) throws {
    switch name {
    case "parser": work = try Self.parser()
    case "tree": work = try Self.tree()
    case "rules": work = try Self.rules(environment)
    case "put": work = try Self.put(environment)
    case "store": work = try Self.store(environment)
    default: return nil
    }
  }

  @inline(never)
  func perform() throws {
    try work()
  }

  /// Parses a thousand writes of 300 bytes, and codes a page of posts in both directions.
  private static func parser() throws -> () throws -> Void {
    let put = try BlogWire.message(1, by: "u1", isStarred: true)
    let posts = try SamplePosts.tree(100)
    let page = ServerMessage.push(.data(path: Path([BlogTree.posts]), posts, tag: nil))
    let text = page.encoded()
    return {
      for _ in 0..<1_000 {
        if case .request(let id, _) = try ClientMessage(decoding: put) { keep(Int(id)) }
      }
      for _ in 0..<20 {
        if case .push = try ServerMessage(decoding: text) { keep(page.encoded().count) }
      }
    }
  }

  /// Writes to a hub with an index and a listener's window, and queries of the index.
  private static func tree() throws -> () throws -> Void {
    let count = 10_000
    let listen = ListenRequest(path: Path([BlogTree.posts]), query: BlogTree.mostStars(100), tag: 1)
    let writes = BlogTree.starWrites(2_000, of: count, round: 1)
    let gets = [ClientMessage](repeating: BlogTree.get(20), count: 100)
    var hub = try BlogTree.hub(count)
    hub.run([.request(id: 1, .listen(listen))])
    return {
      hub.run(writes)
      hub.run(gets)
    }
  }

  /// A thousand writes of a post, checked against the blog's rules.
  private static func rules(_ environment: BenchmarkEnvironment) throws -> () throws -> Void {
    let put = try RulesWork(environment, posts: 1_000)
    return { for _ in 0..<1_000 { keep(put.isAllowed() ? 1 : 0) } }
  }

  /// Two thousand writes, from their text to their responses.
  private static func put(_ environment: BenchmarkEnvironment) throws -> () throws -> Void {
    var puts = try PutWork(environment, writes: 2_000)
    return { try puts.perform() }
  }

  /// The batches of two thousand writes, stored until they are in their final form.
  private static func store(_ environment: BenchmarkEnvironment) throws -> () throws -> Void {
    var puts = try PutWork(environment, writes: 2_000)
    let folder = try TemporaryFolder(in: environment.folder)
    let store = try SQLiteTreeStore(directory: folder.path, now: BlogTree.time)
    let posts = Commit(
      revision: 1,
      timestamp: BlogTree.time,
      changes: [Change(.root, to: puts.root)]
    )
    try store.commit(CommitBatch(commits: [posts]))
    try store.fold()
    var batches: [CommitBatch] = []
    try puts.perform { batches.append($0) }
    return {
      defer { withExtendedLifetime(folder) {} }
      for batch in batches { try store.commit(batch) }
      try store.fold()
      try store.close()
    }
  }
}

/// Writes of posts from text to response, as a server handles them between its sockets and its
/// disk, and the batches that they produce for a store.
struct PutWork {
  /// The number of writes that become durable together.
  private static let batch = 20
  private static let posts = 10_000

  private var hub: TreeHub
  private let texts: [[UInt8]]

  /// Creates a hub with posts, an index of their stars and the blog's rules.
  init(_ environment: BenchmarkEnvironment, writes: Int) throws {
    let user = HearthServer.name(1)
    let numbers = (0..<writes).map { $0 * 7_919 % Self.posts }
    var root = try BlogTree.root(Self.posts)
    for number in numbers {
      let post = try BlogWire.post(number, by: user, isStarred: false)
      root.update(at: BlogWire.path(number), to: post)
    }
    hub = TreeHub(stored: StoredTree(root: root, revision: 1), rules: try environment.blogRules())
    hub.open(BlogTree.peer, as: .user(BlogTree.auth(of: user)))
    keep(hub.handle(BlogTree.get(1), from: BlogTree.peer, at: BlogTree.time).count)
    texts = try numbers.map { try BlogWire.message($0, by: user, isStarred: true) }
  }

  /// The data so far.
  ///
  /// A copy of it shares the nodes of the hub's tree, so that the next writes copy these first.
  var root: Node { mutating get { hub.snapshot } }

  /// Performs all writes, and passes on each batch as soon as it is full.
  mutating func perform(_ store: (CommitBatch) throws -> Void = { _ in }) throws {
    for (number, text) in texts.enumerated() {
      let message = try ClientMessage(decoding: text)
      keep(hub.handle(message, from: BlogTree.peer, at: BlogTree.time).count)
      guard number % Self.batch == Self.batch - 1, let batch = hub.takeBatch() else { continue }
      guard batch.commits.count == Self.batch else { throw LoadError("a write was refused") }
      try store(batch)
      keep(hub.batchCommitted().count)
    }
  }
}
