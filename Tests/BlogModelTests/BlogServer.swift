import BlogModel
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import RealtimeDatabase
import RealtimeServer
import Testing

/// A server in memory for one test, and the people who use it.
final class BlogServer: Sendable {
  let server: DatabaseServer

  init() async throws {
    server = try await DatabaseServer.start(DatabaseServer.Options(port: 0, rules: .open))
  }

  func database() throws -> Database {
    var options = DatabaseOptions()
    options.maximumReconnectDelay = .milliseconds(50)
    let database = try Database(url: try #require(server.urls.first), options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }

  /// The blog as one person calls it.
  func blog(_ name: String) throws -> Blog {
    Blog(database: try database(), me: try Author(userName: name))
  }

  /// The blog as one person's screen follows it.
  func screen(_ name: String, terminal: String? = nil) throws -> ScreenProbe {
    try screen(name, on: try database(), terminal: terminal)
  }

  /// The blog as one person's screen follows it over that database.
  func screen(
    _ name: String,
    on database: Database,
    terminal: String? = nil
  ) throws -> ScreenProbe {
    let blog = LiveBlog(
      database: database,
      name: "test",
      me: try Author(userName: name),
      journal: NoStarJournal(),
      terminal: terminal.map { TerminalName(key: $0, text: "\($0) text") }
    )
    return ScreenProbe(blog)
  }

  /// Writes so many posts of one person at once; keys and stars rise with the number.
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

  /// The key of a seeded post.
  static func key(_ number: Int) -> PostID {
    let digits = String(number)
    return "-K" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// What fsck says of everything.
  func check() async throws -> BlogCheck {
    BlogCheck(try await database().reference().getData())
  }
}

/// Keeps what a live blog tells, and waits for it.
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

  /// Keeps only so many events from now on, for tests of long lists.
  func keep(_ count: Int) { length.withLockedValue { $0 = count } }

  /// The list as it was told last.
  func posts(_ feed: FeedKind) -> [Post]? {
    all.reversed().lazy.compactMap { event in
      if case .feed(feed, let posts) = event { posts } else { nil }
    }.first
  }

  /// How much of the list was kept when it was told last.
  func extent(_ feed: FeedKind) -> FeedExtent? {
    all.reversed().lazy.compactMap { event in
      if case .extent(feed, let extent) = event { extent } else { nil }
    }.first
  }

  /// Who is here, as it was told last.
  var people: [Presence]? {
    all.reversed().lazy.compactMap { event in
      if case .people(let people) = event { people } else { nil }
    }.first
  }

  /// Who is writing on a post, as it was told last.
  func typists(_ post: PostID) -> [String]? {
    all.reversed().lazy.compactMap { event in
      if case .typing(post, let typists) = event { typists.map(\.person.name) } else { nil }
    }.first
  }

  /// All that others did to what I wrote.
  var notices: [Notice] {
    all.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
  }

  /// What was read, as it was told last.
  var readState: ReadState? {
    all.reversed().lazy.compactMap { event in
      if case .readState(let state) = event { state } else { nil }
    }.first
  }

  /// The comments as they were told last.
  func comments(_ post: PostID) -> [BlogModel.Comment]? {
    all.reversed().lazy.compactMap { event in
      if case .comments(post, let comments) = event { comments } else { nil }
    }.first
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
