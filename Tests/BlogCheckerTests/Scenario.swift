import RealtimeCore
import RealtimeServer

@testable import HearthLab

/// A small blog with its clients, from which tests build correct and wrong histories.
///
/// Each event is one millisecond after the previous one.
struct Scenario {
  private(set) var root = Node.empty
  private(set) var revision: Int64 = 0
  private(set) var entries: [CommitHistory.Entry] = []
  private(set) var lines: [String: [HistoryLine]] = [:]
  private var time: Int64 = 1_000_000
  private var numbers: Int64 = 0
  private var orders: [String: Int] = [:]
  /// The data that each watching client knows.
  private var known: [String: Node] = [:]
  /// The views that a watching client has begun.
  private var views: Set<String> = []
  private var intents: [Int64: Intent] = [:]
  /// Whether clients are currently not told about commits.
  var isHeldBack = false
  /// The final data read by the observer, if it differs from the actual data.
  var finalRoot: Node?
  var rules: [String] = []
  var options = CheckOptions()

  init(_ clients: String..., strategy: HistoryHeader.Strategy = .increment) {
    options.least = .nothing
    add(HistoryHeader.make("driver", .driver, strategy))
    for client in clients { add(HistoryHeader.make(client, .client, strategy)) }
  }

  // MARK: Clients

  mutating func add(_ header: HistoryHeader) {
    lines[header.client, default: []].append(HistoryLine(.started(header), at: tick()))
    orders = orders.filter { !$0.key.hasPrefix("\(header.client) ") }
    known[header.client] = nil
    views = views.filter { !$0.hasPrefix("\(header.client) ") }
  }

  mutating func note(_ client: String, _ event: HistoryEvent) {
    lines[client, default: []].append(HistoryLine(event, at: tick()))
  }

  mutating func invoke(_ client: String, _ intent: Intent) -> Int64 {
    numbers += 1
    intents[numbers] = intent
    note(client, .invoked(numbers, intent))
    return numbers
  }

  mutating func answer(_ client: String, _ number: Int64, _ outcome: Outcome = .ok(nil)) {
    note(client, .answered(number, outcome))
    guard known[client] != nil, let intent = intents[number], let post = intent.post else { return }
    if case .comment(_, let comment, _) = intent {
      tell(client, "post-comments/\(post)/\(comment)", isAgain: true)
    } else {
      tell(client, "posts/\(post)", isAgain: true)
    }
  }

  /// Reads at a server: the actual data, or the data given.
  mutating func read(
    _ client: String,
    _ place: String,
    at server: String? = "server1",
    _ data: Node? = nil
  ) {
    let number = invoke(client, .read(path: "/\(place)", server: server))
    answer(client, number, .ok((data ?? root[Path(wire: place)]).json(.value)))
  }

  // MARK: What clients are told

  /// Makes a client watch everything from then on, so that it is told about each commit.
  mutating func look(_ client: String) {
    note(client, .connection(isUp: true))
    known[client] = .empty
    deliver(client)
    begin(client, "recent", "/posts")
  }

  /// Tells a client about everything it does not know, each path once.
  mutating func deliver(_ client: String) {
    guard let old = known[client] else { return }
    for key in root[ChildKey("posts")].changedKeys(from: old[ChildKey("posts")]) {
      tell(client, "posts/\(key)")
    }
    let (before, after) = (old[ChildKey("post-comments")], root[ChildKey("post-comments")])
    for post in after.changedKeys(from: before) {
      for comment in after[post].changedKeys(from: before[post]) {
        tell(client, "post-comments/\(post)/\(comment)")
      }
    }
  }

  /// Tells a client the data at a path: the actual data, or the data given.
  mutating func tell(
    _ client: String,
    _ place: String,
    _ data: Node? = nil,
    isAgain: Bool = false
  ) {
    let path = Path(wire: place)
    let node = data ?? root[path]
    let old = known[client]?[path] ?? .empty
    known[client]?.update(at: path, to: node)
    let isPost = path.first == "posts"
    let view = isPost ? "recent" : "comments/\(path.keys[1])"
    if !isPost { begin(client, view, "/post-comments/\(path.keys[1])") }
    let changes = isAgain || old.isEmpty ? nil : node.changedValues(from: old)
    let content: Telling.Content =
      node.isEmpty ? .gone : .child(version: node.hash, changes: changes)
    note(client, .told(Telling(view: view, path: "\(path)", content: content)))
  }

  private mutating func begin(_ client: String, _ view: String, _ path: String) {
    guard views.insert("\(client) \(view)").inserted else { return }
    note(client, .told(Telling(view: view, path: path, content: .everything(limit: nil))))
  }

  mutating func show(_ client: String, _ content: Showing.Content, view: String = "recent") {
    let order = (orders["\(client) \(view)"] ?? 0) + 1
    orders["\(client) \(view)"] = order
    note(client, .shown(Showing(view: view, order: order, content: content)))
  }

  mutating func show(_ client: String, post: String) {
    let node = root[Path(wire: "posts/\(post)")]
    let stars = node[ChildKey("stars")]
    show(
      client,
      .post(
        post,
        starCount: Int(node[ChildKey("starCount")].leafValue?.number ?? 0),
        stars: stars.childCount,
        isMine: stars.hasChild(ChildKey(client)),
        version: node.hash
      )
    )
  }

  mutating func show(_ client: String, commentsOn post: String) {
    let comments = root[Path(wire: "post-comments/\(post)")]
    let keys = comments.children?.map.map { $0.key.text } ?? []
    show(client, .comments(post: post, keys: keys), view: "comments/\(post)")
  }

  mutating func wait(_ duration: Duration) {
    time += duration.components.seconds * 1_000_000
  }

  // MARK: The database

  mutating func commit(_ values: [(String, JSONValue)]) {
    revision += 1
    let changes = values.compactMap { path, json in
      (try? Node(json: json)).map { Change(Path(wire: path), to: $0) }
    }
    for change in changes { root.update(at: change.path, to: change.node) }
    let commit = Commit(revision: revision, timestamp: 1_700_000_000_000, changes: changes)
    entries.append(.commit(commit, seen: Moment(microseconds: tick().microseconds)))
    if !isHeldBack { for client in known.keys.sorted() { deliver(client) } }
  }

  mutating func crash() {
    let before = tick()
    entries.append(.crash(after: before, before: tick()))
  }

  /// Omits the commit before the last one from the observer's history.
  mutating func dropCommit() { entries.remove(at: entries.count - 2) }

  /// Makes the observer miss the last commit and read all data again.
  mutating func jump() {
    entries.removeLast()
    entries.append(.jump(root, revision: revision, seen: tick()))
  }

  // MARK: What people do

  static func post(_ uid: String, _ title: String) -> JSONValue {
    .object(
      ("uid", .string(uid)),
      ("author", .string(uid)),
      ("title", .string(title)),
      ("body", .string("body")),
      ("starCount", .integer(0))
    )
  }

  static func comment(_ uid: String, _ text: String) -> JSONValue {
    .object(("uid", .string(uid)), ("author", .string(uid)), ("text", .string(text)))
  }

  mutating func post(_ client: String, _ key: String, title: String? = nil) {
    let title = title ?? "\(client) \(key)"
    let number = invoke(client, .post(post: key, title: title, body: "body"))
    let post = Self.post(client, title)
    commit([("posts/\(key)", post), ("user-posts/\(client)/\(key)", post)])
    answer(client, number)
  }

  mutating func comment(_ client: String, _ key: String, on post: String) {
    let text = "\(client) \(key)"
    let number = invoke(client, .comment(post: post, comment: key, text: text))
    commit([("post-comments/\(post)/\(key)", Self.comment(client, text))])
    answer(client, number)
  }

  /// The changes that add or remove a star, at both paths.
  func starring(_ uid: String, _ post: String, _ isStarred: Bool) -> [(String, JSONValue)] {
    let node = root[Path(wire: "posts/\(post)")]
    guard case .string(let owner)? = node[ChildKey("uid")].leafValue else { return [] }
    let has = node[ChildKey("stars")].hasChild(ChildKey(uid))
    let count = Int64(node[ChildKey("starCount")].leafValue?.number ?? 0)
    let sum = count + (isStarred ? 1 : 0) - (has ? 1 : 0)
    return ["posts/\(post)", "user-posts/\(owner)/\(post)"].flatMap { place in
      [
        ("\(place)/starCount", JSONValue.integer(sum)),
        ("\(place)/stars/\(uid)", isStarred ? .bool(true) : .null),
      ]
    }
  }

  mutating func star(_ client: String, _ post: String, _ isStarred: Bool = true) {
    let intent: Intent = isStarred ? .star(post: post) : .unstar(post: post)
    let number = invoke(client, intent)
    commit(starring(client, post, isStarred))
    let count = root[Path(wire: "posts/\(post)/starCount")].leafValue?.number ?? 0
    answer(client, number, .ok(.integer(Int64(count))))
  }

  mutating func delete(_ client: String, post: String) {
    let number = invoke(client, .deletePost(post: post))
    commit([
      ("posts/\(post)", .null), ("user-posts/\(client)/\(post)", .null),
      ("post-comments/\(post)", .null),
    ])
    answer(client, number)
  }

  mutating func increment(_ client: String, _ path: String, by amount: Int64 = 1) {
    let number = invoke(client, .increment(path: path, amount: amount))
    let sum = Int64(root[Path(wire: path)].leafValue?.number ?? 0) + amount
    commit([(path, .integer(sum))])
    answer(client, number, .ok(.integer(sum)))
  }

  /// Records what a client shows at the end.
  mutating func finish(_ client: String) {
    note(
      client,
      .finalView(FinalView(view: "recent", path: "/posts", digest: root[ChildKey("posts")].hash))
    )
    note(client, .ended)
  }

  // MARK: Checking

  var history: History {
    get throws { History(try lines.values.map { try ClientHistory($0) }) }
  }

  var commits: CommitHistory {
    CommitHistory(
      entries: entries,
      finalRoot: finalRoot ?? root,
      finalRevision: revision,
      rules: rules
    )
  }

  func check() throws -> CheckReport {
    Checker(try history, commits: commits, options: options).check()
  }

  private mutating func tick() -> Moment {
    time += 1_000
    return Moment(microseconds: time)
  }
}

extension HistoryHeader {
  static func make(
    _ client: String,
    _ role: Role = .client,
    _ strategy: Strategy = .increment,
    presence: String? = nil
  ) -> HistoryHeader {
    HistoryHeader(
      client: client,
      role: role,
      user: client,
      uid: client,
      pid: 1,
      seed: 7,
      strategy: strategy,
      presence: presence,
      wallClock: 1_700_000_000_000
    )
  }
}

extension Node {
  /// The keys of the children that differ.
  fileprivate func changedKeys(from old: Node) -> [ChildKey] {
    let all = [self, old].flatMap { $0.children?.map.map(\.key) ?? [] }
    return Set(all).sorted().filter { self[$0] != old[$0] }
  }
}
