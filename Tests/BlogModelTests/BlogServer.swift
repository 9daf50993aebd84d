import BlogModel
import Dispatch
import Foundation
import FoundationNetworking
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

/// A server in memory for one test, and the users' connections to it.
final class BlogServer: Sendable {
  /// The requests that rules refused, as the screens keep them.
  let refused = NIOLockedValueBox<[JSONValue]>([])
  /// How often the screens had memory released.
  let releases = NIOLockedValueBox(0)
  let server: DatabaseServer

  /// The administrator's secret.
  private static let key = "0123456789abcdef0123456789abcdef"

  init(
    rules: DatabaseServer.Rules = .open,
    limits: DatabaseServer.Limits = DatabaseServer.Limits(),
    isEmulator: Bool = false,
    stores: any TreeStores = MemoryTreeStores()
  ) async throws {
    var options = isEmulator ? DatabaseServer.Options.emulator(port: 0) : .init(port: 0)
    options.rules = rules
    options.limits = limits
    options.identities.administratorKey = Self.key
    server = try await DatabaseServer.start(options, stores: stores)
  }

  /// A server with the rules of that name in `assets/rules`, which accepts unsigned tokens.
  convenience init(shippedRules name: String) async throws {
    let rules = try PackageFiles.text("assets/rules/\(name)")
    try await self.init(rules: .source(rules), isEmulator: true)
  }

  /// Changes several paths at once, bypassing the rules.
  func administer(_ values: [String: Any]) async throws {
    try await send("PATCH", "/.json", JSONSerialization.data(withJSONObject: values))
  }

  /// Puts rules in force.
  func put(rules: String) async throws {
    try await send("PUT", "/.settings/rules.json", Data(rules.utf8))
  }

  private func send(_ method: String, _ path: String, _ body: Data) async throws {
    let port = try #require(server.port)
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
    request.httpMethod = method
    request.httpBody = body
    request.setValue("Bearer \(Self.key)", forHTTPHeaderField: "Authorization")
    let (data, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode
    try #require(status == 200, "\(String(decoding: data, as: UTF8.self))")
  }

  /// The number of current listens, and the number requested since the server started.
  func listens() async throws -> (now: Int, sinceStart: Int) {
    let databases = try await databaseMetrics()
    return (
      databases.compactMap { $0["listens"] as? Int }.reduce(0, +),
      try await requests()["listen"] ?? 0
    )
  }

  /// The number of requests of each kind that clients have sent since the start.
  func requests() async throws -> [String: Int] {
    try await databaseMetrics().compactMap { $0["requests"] as? [String: Int] }
      .reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
  }

  private func databaseMetrics() async throws -> [[String: Any]] {
    let port = try #require(server.port)
    var request = URLRequest(
      url: try #require(URL(string: "http://127.0.0.1:\(port)/.info/metrics.json"))
    )
    request.setValue("Bearer \(Self.key)", forHTTPHeaderField: "Authorization")
    let (data, _) = try await URLSession.shared.data(for: request)
    let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return Array(try #require(json?["databases"] as? [String: [String: Any]]).values)
  }

  /// Waits until the server has this many listens.
  func waitForListens(
    _ count: Int,
    _ what: Testing.Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let deadline = Date().addingTimeInterval(30)
    var last = try await listens().now
    while last != count, Date() < deadline { last = try await listens().now }
    #expect(last == count, what, sourceLocation: sourceLocation)
  }

  /// A connection to the database, signed in if a name is given.
  ///
  /// Only an emulator accepts the unsigned token.
  func database(as name: String? = nil) throws -> Database {
    var options = DatabaseOptions()
    options.maximumReconnectDelay = .milliseconds(50)
    options.tokenProvider = name.map(UnsignedTokens.init)
    let database = try Database(url: try #require(server.urls.first), options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }

  /// The blog as used by one user.
  func blog(_ name: String) throws -> Blog {
    Blog(database: try database(), me: try Author(userName: name))
  }

  /// The blog as used by one signed-in user.
  func signedInBlog(_ name: String, stars: StarMethod = .increment) throws -> Blog {
    Blog(database: try database(as: name), me: try Author(userName: name), stars: stars)
  }

  /// The blog as followed by the screen of one signed-in user.
  func signedInScreen(_ name: String) throws -> ScreenProbe {
    try screen(name, on: try database(as: name), stars: .increment)
  }

  /// The blog as followed by one user's screen.
  func screen(_ name: String, terminal: String? = nil) throws -> ScreenProbe {
    try screen(name, on: try database(), terminal: terminal)
  }

  /// The blog as followed by one user's screen over the given database.
  func screen(
    _ name: String,
    on database: Database,
    naming: LiveBlog.Naming = .fixed(reason: "here"),
    stars: StarMethod = .transaction,
    terminal: String? = nil,
    sharesReading: Bool = false
  ) throws -> ScreenProbe {
    let blog = LiveBlog(
      database: database,
      name: "test",
      me: try Author(userName: name),
      naming: naming,
      stars: stars,
      terminal: terminal.map { TerminalName(key: $0, text: "\($0) text") },
      sharesReading: sharesReading,
      keepRefused: { [refused] request in
        refused.withLockedValue { $0.append(request) }
        return "/a b/refused.json"
      },
      releaseMemory: { [releases] in releases.withLockedValue { $0 += 1 } }
    )
    return ScreenProbe(blog)
  }

  /// Writes posts of one user in one update; keys and stars grow with the number.
  func seed(_ numbers: some Sequence<Int>, by uid: String = "owner") async throws {
    var values: [String: Any] = [:]
    for number in numbers {
      let post: [String: Any] = [
        "uid": uid, "author": uid, "title": "\(number)", "body": "b", "starCount": number % 50,
      ]
      values["posts/\(Self.key(number))"] = post
      values["user-posts/\(uid)/\(Self.key(number))"] = post
    }
    try await database().reference().updateChildValues(values)
  }

  static func key(_ number: Int) -> PostID {
    let digits = String(number)
    return "-K" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The result of checking the whole blog.
  func check() async throws -> BlogCheck {
    BlogCheck(try await database().reference().getData().node)
  }
}

/// Lets commits of a store through, or holds them up.
final class Gate: @unchecked Sendable {
  // Safety: the flag is used under the condition's lock only.
  private let condition = NSCondition()
  private var isOpen = true

  func setOpen(_ isOpen: Bool) {
    condition.withLock {
      self.isOpen = isOpen
      condition.broadcast()
    }
  }

  func pass() {
    condition.withLock {
      while !isOpen { condition.wait() }
    }
  }
}

/// Stores that make nothing durable while their gate is closed.
struct GatedStores: TreeStores {
  struct Store: TreeStore {
    let store: any TreeStore
    let gate: Gate

    func load() throws -> StoredTree { try store.load() }

    func commit(_ batch: CommitBatch) throws {
      gate.pass()
      try store.commit(batch)
    }

    func close() throws { try store.close() }
  }

  let gate = Gate()
  private let stores = MemoryTreeStores()

  func names() -> [String] { stores.names() }
  func open(_ name: String) -> (any TreeStore)? {
    stores.open(name).map { Store(store: $0, gate: gate) }
  }
  func create(_ name: String) -> Bool { stores.create(name) }
}

/// Identifies a user by an unsigned token.
private struct UnsignedTokens: DatabaseTokenProvider {
  let name: String

  var userID: String? { name }

  func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    let claims = #"{"sub":"\#(name)","user_id":"\#(name)","iat":0,"exp":4102444800}"#
    let parts = [#"{"alg":"none","typ":"JWT"}"#, claims].map { part in
      Data(part.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    return DatabaseToken(userID: name, text: parts.joined(separator: ".") + ".")
  }

  func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    DatabaseTokenObservation {}
  }
}

extension Blog {
  /// Writes a post, and returns its key.
  @discardableResult
  func post(title: String, body: String) async throws -> PostID {
    try #require(await perform(.post(title: title, body: body)).key)
  }

  /// Writes a comment or a reply to one, and returns its key.
  @discardableResult
  func comment(
    on post: PostID,
    text: String,
    answering parent: String? = nil
  ) async throws -> String {
    var answered: BlogModel.Comment?
    if let parent { answered = try await comment(parent, on: post) }
    return try #require(await perform(.comment(post, text: text, answering: answered)).key)
  }
}

extension LiveBlog {
  /// Writes a post, and returns its key.
  func post(title: String, body: String) -> PostID {
    perform(.post(title: title, body: body)).key ?? ""
  }

  /// Writes a comment, and returns its key.
  func comment(on post: PostID, text: String) -> String {
    perform(.comment(post, text: text)).key ?? ""
  }
}

/// Records the events of a live blog, and waits for them.
final class ScreenProbe: Sendable {
  let blog: LiveBlog
  private let events = NIOLockedValueBox<[BlogEvent]>([])
  private let length = NIOLockedValueBox(Int.max)

  /// Follows a blog.
  init(_ blog: LiveBlog) {
    self.blog = blog
    blog.start { [self] event in
      let length = length.withLockedValue { $0 }
      events.withLockedValue { events in
        events.append(event)
        if events.count > length { events.removeFirst(events.count - length) }
      }
    }
  }

  var all: [BlogEvent] { events.withLockedValue { $0 } }

  /// Keeps only the latest events from then on, for tests of long lists.
  func keep(_ count: Int) { length.withLockedValue { $0 = count } }

  /// What the latest event of a kind says.
  private func latest<Value>(_ value: (BlogEvent) -> Value?) -> Value? {
    for event in all.reversed() {
      if let value = value(event) { return value }
    }
    return nil
  }

  /// The list as last reported.
  func posts(_ feed: FeedKind) -> [Post]? {
    latest { if case .feed(feed, let posts) = $0 { posts } else { nil } }
  }

  /// The list each time it was reported.
  func lists(_ feed: FeedKind) -> [[Post]] {
    all.compactMap { if case .feed(feed, let posts) = $0 { posts } else { nil } }
  }

  /// The reasons for refusals, in order.
  var refusals: [String] {
    all.compactMap { if case .failed(_, let reason) = $0 { reason } else { nil } }
  }

  /// The extent of the list as last reported.
  func extent(_ feed: FeedKind) -> FeedExtent? {
    latest { if case .extent(feed, let extent) = $0 { extent } else { nil } }
  }

  /// The people present, as last reported.
  var people: [Presence]? {
    latest { if case .people(let people) = $0 { people } else { nil } }
  }

  /// What the people present read, as last reported: the titles, or a dash for the lists.
  var places: [String: String]? {
    latest { event -> [String: String]? in
      guard case .reading(let places) = event else { return nil }
      return Dictionary(places.map { ($0.id, $0.post == nil ? "-" : $0.title ?? "?") }) { $1 }
    }
  }

  /// The names of the users typing on a post, as last reported.
  func typists(_ post: PostID) -> [String]? {
    latest { if case .typing(post, let typists) = $0 { typists.map(\.person.name) } else { nil } }
  }

  /// All notices about other users' reactions to this user's content.
  var notices: [Notice] {
    all.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
  }

  /// The users that this user follows, as last reported.
  var followed: Set<String>? {
    latest { if case .ownLists(let lists) = $0 { lists.following } else { nil } }
  }

  /// The list of notices, as last reported.
  var noticeEntries: [NoticeEntry]? {
    latest { if case .notices(let entries) = $0 { entries } else { nil } }
  }

  /// The keys of the unread notices; nil before both the list and the read state are known.
  var unreadNotices: Set<String>? {
    guard let state = readState, let entries = noticeEntries else { return nil }
    return Set(entries.filter(state.isUnread).map(\.id))
  }

  /// The read state, as last reported.
  var readState: ReadState? {
    latest { if case .readState(let state) = $0 { state } else { nil } }
  }

  /// The newest comments on a post that is not open, as last reported.
  func latestComments(_ post: PostID) -> [BlogModel.Comment]? {
    latest { if case .latestComments(post, let comments) = $0 { comments } else { nil } }
  }

  /// The number of unread comments on a post.
  func newComments(on post: PostID, for uid: String) -> Int? {
    guard let comments = latestComments(post) else { return nil }
    return readState?.newComments(among: comments, on: post, for: uid).count
  }

  /// The comments on an open post, as last reported.
  func comments(_ post: PostID) -> [BlogModel.Comment]? {
    latest { if case .comments(post, let comments) = $0 { comments } else { nil } }
  }

  /// Waits until a condition holds, within a deadline.
  func wait(
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    until condition: @escaping @Sendable (ScreenProbe) -> Bool
  ) async throws {
    let isMet = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      DispatchQueue.global().async { [self] in
        let deadline = Date().addingTimeInterval(20)
        while Date() < deadline {
          if condition(self) { return continuation.resume(returning: true) }
          usleep(2_000)
        }
        continuation.resume(returning: condition(self))
      }
    }
    let last = all.suffix(3).map { String(describing: $0).prefix(300) }
    try #require(isMet, "\(what): \(last)", sourceLocation: sourceLocation)
  }
}
