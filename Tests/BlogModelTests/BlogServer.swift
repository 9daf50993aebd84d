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
  func screen(_ name: String) throws -> ScreenProbe {
    let me = try Author(userName: name)
    let blog = LiveBlog(database: try database(), name: "test", me: me, journal: NoStarJournal())
    return ScreenProbe(blog)
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

  init(_ blog: LiveBlog) {
    self.blog = blog
    blog.start { [self] event in
      events.withLockedValue { $0.append(event) }
    }
  }

  var all: [BlogEvent] { events.withLockedValue { $0 } }

  /// The list as it was told last.
  func posts(_ feed: FeedKind) -> [Post]? {
    all.reversed().lazy.compactMap { event in
      if case .feed(feed, let posts) = event { posts } else { nil }
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
    try #require(isMet, "\(what): \(all.suffix(5))", sourceLocation: sourceLocation)
  }
}
