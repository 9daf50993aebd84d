import BlogModel
import BlogTUI
import NIOConcurrencyHelpers
import RealtimeDatabase

/// The others of a script, each with a connection and a blog of their own.
@MainActor
final class ScriptedPeople {
  /// Somebody who is here.
  private struct Person {
    let database: Database
    let blog: LiveBlog
    let seen: NIOLockedValueBox<Seen>
    /// Whether what they are to do is under way.
    var hasBegun = false
  }

  /// What one of them has seen so far.
  private struct Seen {
    var isOnline = false
    var posts: [Post]?
    /// How the last thing they did has ended.
    var outcome: Script.Progress = .underWay
  }

  private let url: String
  private let options: DatabaseOptions
  private var people: [String: Person] = [:]

  /// Names the database; nobody is there yet.
  init(url: String, options: DatabaseOptions) {
    self.url = url
    self.options = options
  }

  /// Lets somebody begin to do something, or tells how far they are.
  func perform(_ act: Script.Act, by name: String, isFirst: Bool) -> Script.Progress {
    do {
      var person = try people[name] ?? join(name)
      if isFirst {
        person.hasBegun = false
        person.seen.withLockedValue { $0.outcome = .underWay }
      }
      people[name] = person
      let seen = person.seen.withLockedValue { $0 }
      guard seen.isOnline, let posts = seen.posts else { return .underWay }
      if person.hasBegun { return seen.outcome }
      let post = posts.first { $0.title == act.subject }
      guard act.subject == nil || post != nil else { return .underWay }
      people[name]?.hasBegun = true
      return begin(act, on: post?.id ?? "", person) ? .underWay : .done
    } catch {
      return .refused("\(error)")
    }
  }

  /// Begins to do something; false if it is done at once.
  private func begin(_ act: Script.Act, on id: PostID, _ person: Person) -> Bool {
    switch act {
    case .join: return false
    case .leave:
      person.database.goOffline()
      person.seen.withLockedValue { $0.isOnline = false }
      people[person.blog.me.name] = nil
      left.append(person.database)
      return false
    case .post(let title, let body): _ = person.blog.post(title: title, body: body)
    case .comment(_, let text): _ = person.blog.comment(on: id, text: text)
    case .star(_, let isStarred): person.blog.setStar(id, isStarred)
    case .delete: person.blog.deletePost(id)
    case .type:
      person.blog.setTyping(true, on: id)
      return false
    }
    return true
  }

  private var left: [Database] = []

  private func join(_ name: String) throws -> Person {
    let database = try Database(url: url, options: options)
    let blog = LiveBlog(
      database: database,
      name: "script",
      me: try Author(userName: name),
      terminal: TerminalName(key: name, text: "script")
    )
    let seen = NIOLockedValueBox(Seen())
    blog.start { event in
      seen.withLockedValue { seen in
        switch event {
        case .feed(.recent, let posts): seen.posts = posts
        case .connection(let state): seen.isOnline = state == .online
        case .succeeded: seen.outcome = .done
        case .failed(_, let reason): seen.outcome = .refused(reason)
        case .feed, .extent, .feedFailed, .post, .comments, .latestComments, .typing, .people,
          .readState, .markAnswered, .notice, .roundTrip, .connectionProblem, .pendingWrites:
          break
        }
      }
    }
    blog.follow(.recent)
    return Person(database: database, blog: blog, seen: seen)
  }

  /// Lets all of them leave.
  func close() async {
    for database in people.values.map(\.database) + left { await database.close() }
    people = [:]
    left = []
  }
}
