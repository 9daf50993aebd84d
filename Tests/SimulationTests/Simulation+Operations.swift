import RealtimeCore
import RealtimeDatabase
import TestSupport

extension Simulation {
  private static let keys: [ChildKey] = ["1", "2", "10", "a", "b", "é"]

  /// Makes a client do something, and schedules its next action.
  mutating func act(_ index: Int) {
    if isHealing {
      if clients[index].core.interruptReasons.contains(.user) { feed(index, .goOnline(.user)) }
      if clients[index].core.interruptReasons.contains(.waitingForOpen) { observe(index) }
      return
    }
    agenda.add(.act(client: index), at: now + 20 + Int64(random.below(900)))
    switch random.below(27) {
    case 0...3: observe(index)
    case 4: stopObserving(index)
    case 5...8: writeList(index)
    case 9...11: count(index)
    case 12...13: mirror(index)
    case 14...16: star(index)
    case 17: writePost(index)
    case 18...19: tally(index)
    case 20...23: read(index)
    case 24...25: schedule(index)
    case _:
      if random.once(in: 6) { feed(index, .purgeOutstandingWrites) }
    }
  }

  private mutating func request(
    _ index: Int,
    _ purpose: TrackedRequest.Purpose,
    _ input: (RequestToken) -> RepoInput
  ) {
    let token = RequestToken(makeNumber())
    requests[token] = TrackedRequest(client: index, purpose: purpose)
    clients[index].openRequests += 1
    feed(index, input(token))
  }

  private mutating func makeID() -> String { "w\(makeNumber())" }

  private mutating func write(
    _ index: Int,
    _ path: Path,
    _ operation: WriteOperation,
    _ purpose: TrackedRequest.Purpose
  ) {
    request(index, purpose) { .write($0, path: path, operation) }
  }

  // MARK: Listening and reading

  private mutating func randomQuery() -> Query {
    var query = Query()
    switch random.below(5) {
    case 0: query.index = .key
    case 1: query.index = .value
    case 2: query.index = .child("n")
    case _: break
    }
    if random.once(in: 3) { return query }
    query.limit = Query.Limit(1 + random.below(3), side: random.once(in: 2) ? .first : .last)
    if random.once(in: 4), query.index != .key {
      query.start = QueryBound(.integer(Int64(random.below(3))))
    }
    return query
  }

  private mutating func place() -> Path {
    random.pick([
      "list", "list", "list", "list/a", "list/10", "mirror", "mirror/a", "posts", "posts/p0",
      "posts/p1/stars", "tally/x", "counters", "log", "gone", "/",
    ])
  }

  private mutating func observe(_ index: Int) {
    let path = place()
    let query = random.once(in: 2) ? Query.all : randomQuery()
    let listener = ListenerID(makeNumber())
    clients[index].listeners[listener] = ListenerLog(path: path, query: query)
    let events = Set(DataEventType.inOrder)
    feed(index, .observe(listener, path: path, query: query, events: events))
  }

  private mutating func stopObserving(_ index: Int) {
    let listeners = clients[index].listeners.keys.sorted { $0.number < $1.number }
    guard !listeners.isEmpty else { return }
    let listener = random.pick(listeners)
    clients[index].listeners[listener] = nil
    feed(index, .stopObserving(listener))
  }

  private mutating func read(_ index: Int) {
    let path = place()
    let query = random.once(in: 2) ? Query.all : randomQuery()
    let purpose = TrackedRequest.Purpose.get(path: path, query: query, revision: store.revision)
    request(index, purpose) { .get($0, path: path, query: query) }
  }

  // MARK: Writing

  private mutating func entry(_ id: String) -> Node {
    let priority: LeafValue? =
      random.once(in: 3) ? .integer(Int64(random.below(3))) : nil
    if random.once(in: 2) { return .leaf(.string(id), priority: Priority(priority)) }
    return Node.empty.with("id", .string(id))
      .with("n", .integer(Int64(random.below(4)))).withPriority(priority)
  }

  private mutating func writeList(_ index: Int) {
    let key = random.pick(Self.keys)
    let place = Path(["list", key])
    switch random.below(8) {
    case 0...3:
      let id = makeID()
      write(index, place, .set(entry(id)), .write(ids: [id]))
    case 4: write(index, place, .set(.empty), .other("removal"))
    case 5:
      let priority = Node.integer(Int64(random.below(3)))
      write(index, place.appending(.priority), .set(priority), .other("priority"))
    case 6:
      let ids = [makeID(), makeID()]
      let other = random.pick(Self.keys.filter { $0 != key })
      let changes = [
        Change(Path([key]), to: entry(ids[0])), Change(Path([other, "id"]), to: .string(ids[1])),
      ]
      write(index, "list", .merge(changes), .write(ids: ids))
    case _:
      let ids = [makeID(), makeID(), makeID()]
      var list = Node.empty
      for id in ids.dropLast() { list.update(at: Path([random.pick(Self.keys)]), to: entry(id)) }
      // The last id is always present; of the other two, one may have replaced the other.
      list.update(at: "z", to: .string(ids[2]))
      write(index, "list", .set(list), .write(ids: list.uniqueTexts))
    }
  }

  private mutating func count(_ index: Int) {
    let counter: ChildKey = random.pick(["c0", "c1"])
    let amount = Int64(1 + random.below(5))
    let id = makeID()
    let changes = [
      Change(Path(["counters", counter]), to: .leaf(.deferred(.incrementInteger(amount)))),
      Change(Path(["log", ChildKey(id)]), to: .string(id)),
    ]
    write(index, .root, .merge(changes), .count(counter: counter, amount: amount, id: id))
  }

  private mutating func mirror(_ index: Int) {
    let key: ChildKey = random.pick(["x", "y"])
    let value: Node = random.once(in: 4) ? .empty : .integer(makeNumber())
    let changes = [Change(Path(["a", key]), to: value), Change(Path(["b", key]), to: value)]
    write(index, "mirror", .merge(changes), .other("mirror"))
  }

  private mutating func writePost(_ index: Int) {
    let post: Path = random.pick(["posts/p0", "posts/p1"])
    switch random.below(4) {
    case 0: write(index, post, .set(.empty), .other("post removed"))
    case 1:
      let node = Node.empty.with("title", .integer(1))
        .with("starCount", .integer(0))
      write(index, post, .set(node), .other("post made"))
    case _:
      write(index, post.appending(ChildKey("title")), .set(.integer(makeNumber())), .other("title"))
    }
  }

  // MARK: Transactions

  /// Stars or unstars a post as the blog does.
  private mutating func star(_ index: Int) {
    let post: Path = random.pick(["posts/p0", "posts/p1"])
    let user = ChildKey("u\(random.below(3))")
    let isStarred = random.once(in: 2)
    let update: TransactionUpdate = { node in
      guard node.children != nil else { return .commit(node) }
      let stars = node[at: "stars"].setting(user, to: isStarred ? .bool(true) : .empty)
      return .commit(
        node.with("stars", stars)
          .with("starCount", .integer(Int64(stars.childCount)))
      )
    }
    let appliesLocally = !random.once(in: 4)
    request(index, .other("star")) {
      .transaction($0, path: post, appliesLocally: appliesLocally, update: update)
    }
  }

  /// Adds an entry to a tally and counts it.
  private mutating func tally(_ index: Int) {
    let place: Path = random.pick(["tally/x", "tally/y"])
    let entry = ChildKey("t\(makeNumber())")
    let update: TransactionUpdate = { node in
      let items = node[at: "items"].setting(entry, to: .bool(true))
      return .commit(
        node.with("items", items).with("count", .integer(Int64(items.childCount)))
      )
    }
    let appliesLocally = !random.once(in: 4)
    request(index, .tally(place: place, entry: entry)) {
      .transaction($0, path: place, appliesLocally: appliesLocally, update: update)
    }
  }

  // MARK: Disconnections

  private mutating func schedule(_ index: Int) {
    if random.once(in: 3), !clients[index].scheduled.isEmpty {
      let path = random.pick(clients[index].scheduled)
      return request(index, .other("withdrawal")) { .cancelOnDisconnect($0, path: path) }
    }
    let path = Path(["gone", ChildKey("g\(makeNumber())")])
    clients[index].scheduled.append(path)
    let increment = Node.leaf(.deferred(.incrementInteger(1)))
    request(index, .other("schedule")) { .onDisconnect($0, path: path, .set(increment)) }
  }
}
