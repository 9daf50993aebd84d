import RealtimeCore
import RealtimeHub
import SQLiteStorage
import SecurityRules

/// Writes of posts from their text to their answers, as a server deals with them between its sockets
/// and its disk, and what their batches ask of a store.
struct PutWork {
  /// How many writes become durable together.
  private static let batch = 20
  private static let posts = 10_000

  /// What is there at first, as the first commit.
  let root: Node
  private var hub: TreeHub
  private let texts: [[UInt8]]

  /// Makes a hub with posts, an index of their stars and the blog's rules.
  ///
  /// - Parameters:
  ///   - place: Where the rules are.
  ///   - writes: How many writes there are.
  /// - Throws: When the rules cannot be read.
  init(_ place: Place, writes: Int) throws {
    let user = HearthServer.name(1)
    let numbers = (0..<writes).map { $0 * 7_919 % Self.posts }
    var root = try BlogTree.root(Self.posts)
    for number in numbers {
      let post = try BlogWire.post(number, by: user, isStarred: false)
      root.update(at: BlogWire.path(number), to: post)
    }
    self.root = root
    hub = TreeHub(stored: StoredTree(root: root, revision: 1), rules: try place.blogRules())
    let auth: JSONValue = .object(
      ("uid", .string(user)),
      ("provider", .string("custom")),
      ("token", .object(("sub", .string(user))))
    )
    hub.open(BlogTree.peer, as: .user(auth))
    keep(hub.handle(BlogTree.get(1), from: BlogTree.peer, at: BlogTree.time).count)
    texts = try numbers.map { try BlogWire.message($0, by: user, isStarred: true) }
  }

  /// Does all writes, and gives each batch away as soon as it is full.
  ///
  /// - Throws: ``LoadError`` when a write is refused.
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
