import RealtimeCore
import TestSupport

@testable import HearthLab

/// A tiny blog with concurrent random operations, lost answers, refusals and crashes.
///
/// Every history it produces is correct: an operation takes effect at most once, between its start
/// and its end.
struct RandomRun {
  /// An operation that has begun but not ended.
  private struct Pending {
    let client: String
    let number: Int64
    let intent: Intent
    var isCommitted = false
    var result: JSONValue?
  }

  private(set) var scenario: Scenario
  private var random: SplitMix64
  private let clients = ["ann", "bob", "cem"]
  private var pending: [Pending] = []
  private var keys = 0
  private var posts: [(key: String, owner: String)] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    scenario = Scenario("ann", "bob", "cem", "dan")
    for client in clients + ["dan"] { scenario.look(client) }
    scenario.wait(.seconds(9))
    for _ in 0..<60 {
      switch random.below(10) {
      case 0...3: begin()
      case 4...6: takeEffect()
      case 7...8: end()
      default:
        switch random.below(4) {
        case 0: scenario.crash()
        case 1: read()
        default: show()
        }
      }
    }
    // Every operation ends, except those whose outcome remains unknown.
    while let index = pending.indices.first {
      if random.once(in: 5) {
        pending.remove(at: index)
        continue
      }
      commit(index)
      finish(index)
    }
    for client in clients + ["dan"] { scenario.finish(client) }
  }

  private mutating func begin() {
    let client = random.pick(clients)
    // One operation at a time per client, since plain writes keep their order.
    guard !pending.contains(where: { $0.client == client }) else { return }
    keys += 1
    let key = "-k\(1_000 + keys)"
    let intent: Intent
    let post = posts.isEmpty ? nil : random.pick(posts)
    switch (random.below(8), post) {
    case (0, _), (_, nil): intent = .post(post: key, title: "title \(key)", body: "b")
    case (1...2, let post?): intent = .comment(post: post.key, comment: key, text: "text \(key)")
    case (3...4, let post?): intent = .star(post: post.key)
    case (5, let post?): intent = .unstar(post: post.key)
    case (6, _): intent = .increment(path: "counters/x", amount: Int64(random.below(5)))
    case (_, let post?):
      intent =
        post.owner == client
        ? .editPost(post: post.key, title: "title \(key)", body: "b")
        : .starAs(post: post.key, uid: post.owner)
    }
    let number = scenario.invoke(client, intent)
    pending.append(Pending(client: client, number: number, intent: intent))
  }

  private mutating func takeEffect() {
    guard !pending.isEmpty else { return }
    commit(random.below(pending.count))
  }

  private mutating func commit(_ index: Int) {
    let operation = pending[index]
    guard !operation.isCommitted, !operation.intent.isForbidden else { return }
    let client = operation.client
    pending[index].isCommitted = true
    switch operation.intent {
    case .post(let key, let title, _):
      let post = Scenario.post(client, title)
      scenario.commit([("posts/\(key)", post), ("user-posts/\(client)/\(key)", post)])
      posts.append((key, client))
    case .editPost(let key, let title, _):
      scenario.commit([
        ("posts/\(key)/title", .string(title)),
        ("user-posts/\(client)/\(key)/title", .string(title)),
      ])
    case .comment(let post, let key, let text):
      scenario.commit([("post-comments/\(post)/\(key)", Scenario.comment(client, text))])
    case .star(let post), .unstar(let post):
      let isStarred = if case .star = operation.intent { true } else { false }
      let path = Path(wire: "posts/\(post)")
      let has = scenario.root[path][ChildKey("stars")].hasChild(ChildKey(client))
      // A write that changes nothing makes no commit.
      if has != isStarred { scenario.commit(scenario.starring(client, post, isStarred)) }
      let count = scenario.root[path][ChildKey("starCount")].leafValue?.number ?? 0
      pending[index].result = .integer(Int64(count))
    case .increment(let path, let amount):
      let sum = Int64(scenario.root[Path(wire: path)].leafValue?.number ?? 0) + amount
      if amount != 0 { scenario.commit([(path, .integer(sum))]) }
      pending[index].result = .integer(sum)
    default: break
    }
  }

  private mutating func end() {
    guard !pending.isEmpty else { return }
    let index = random.below(pending.count)
    if pending[index].isCommitted || pending[index].intent.isForbidden {
      // Some answers are lost in transit.
      if random.once(in: 8) { pending.remove(at: index) } else { finish(index) }
    } else if random.once(in: 8) {
      let operation = pending.remove(at: index)
      scenario.answer(operation.client, operation.number, .refused("permission_denied"))
    }
  }

  private mutating func finish(_ index: Int) {
    let operation = pending.remove(at: index)
    let outcome: Outcome =
      operation.intent.isForbidden ? .refused("permission_denied") : .ok(operation.result)
    scenario.answer(operation.client, operation.number, outcome)
  }

  /// Reads at one of several servers, while others may write.
  private mutating func read() {
    guard !posts.isEmpty else { return }
    let path = "posts/\(random.pick(posts).key)"
    let client = random.pick(clients)
    let server = "server\(random.below(3))"
    let number = scenario.invoke(client, .read(path: path, server: server))
    if random.once(in: 2) { takeEffect() }
    let value = scenario.root[Path(wire: path)].json(.value)
    if random.once(in: 2) { takeEffect() }
    scenario.answer(client, number, .ok(value))
  }

  private mutating func show() {
    guard !posts.isEmpty else { return }
    let post = random.pick(posts).key
    let client = random.pick(clients)
    let isBusy = pending.contains { $0.client == client && $0.intent.post == post }
    if !isBusy { scenario.show(client, post: post) }
    scenario.show(client, commentsOn: post)
  }
}
