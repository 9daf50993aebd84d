import ArgumentParser
import BlogModel
import RealtimeDatabase

extension FeedKind: ExpressibleByArgument {
  /// The list of a name; nil for one that no list has.
  public init?(argument: String) { self.init(name: argument) }
}

/// Prints a list of posts.
struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a list of posts: recent, top, mine or mytop."
  )

  @Argument(help: "Which list: recent, top, mine or mytop.")
  var feed: FeedKind = .recent

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    let posts = try await session.blog.posts(feed)
    let now = session.database.serverTime
    var names = NameBook()
    for post in posts { names.learn(Author(uid: post.uid, name: post.author)) }
    for post in posts {
      if options.json {
        Output.line(post.json)
      } else {
        let star = post.stars.contains(session.blog.me.uid) ? "★" : "☆"
        let age = post.createdAt.map { AgeText.of(now - $0) } ?? "-"
        let name = names.shown(Author(uid: post.uid, name: post.author))
        Output.line(
          untrusted: "\(post.id)  \(star) \(post.starCount)  \(age)  \(name): \(post.title)"
        )
      }
    }
  }
}
