import BlogModel
import BlogTUI
import Dispatch
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeDatabase

/// The other people in a script, each with a connection and a blog of their own.
@MainActor
final class ScriptedPeople {
  private struct Person {
    let database: Database
    let blog: LiveBlog
    let seen: NIOLockedValueBox<Seen>
    /// Whether their current action has started.
    var hasBegun = false
  }

  /// What a person has seen so far.
  private struct Seen {
    var isOnline = false
    var posts: [Post]?
    /// The outcome of their last action.
    var outcome: Script.Progress = .underWay
  }

  private let url: String
  private let options: DatabaseOptions
  private var people: [String: Person] = [:]

  /// Names the database; no one has joined yet.
  init(url: String, options: DatabaseOptions) {
    self.url = url
    self.options = options
  }

  /// Starts a person's action, or reports its progress.
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
      return begin(act, on: post?.id ?? "", by: person) ? .underWay : .done
    } catch {
      return .refused("\(error)")
    }
  }

  /// Starts an action; false if it is complete at once.
  private func begin(_ act: Script.Act, on id: PostID, by person: Person) -> Bool {
    switch act {
    case .join: return false
    case .leave:
      person.database.goOffline()
      person.seen.withLockedValue { $0.isOnline = false }
      people[person.blog.me.name] = nil
      left.append(person.database)
      return false
    case .post(let title, let body): person.blog.perform(.post(title: title, body: body))
    case .comment(_, let text): person.blog.perform(.comment(id, text: text))
    case .star(_, let isStarred): person.blog.perform(.star(id, isStarred))
    case .delete: person.blog.perform(.deletePost(id))
    case .type:
      person.blog.request(.typing(id, true))
      return false
    }
    return true
  }

  private var left: [Database] = []

  private func join(_ name: String) throws -> Person {
    let me = try Author(userName: name)
    var options = options
    let stars = StarMethod.automatic(at: url, for: me, &options)
    let database = try Database(url: url, options: options)
    let blog = LiveBlog(
      database: database,
      name: "script",
      me: me,
      stars: stars,
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
        case .feed, .extent, .feedFailed, .post, .postFailed, .comments, .hasEarlierComments,
          .latestComments, .typing, .people, .readState, .markAnswered, .markRefused, .notice,
          .notices,
          .ownLists, .named, .unnamed, .reading, .renamed, .roundTrip, .connectionProblem,
          .silence, .found, .pendingWrites:
          break
        }
      }
    }
    blog.request(.follow(.recent))
    return Person(database: database, blog: blog, seen: seen)
  }

  /// Lets everyone leave.
  func close() async {
    for database in people.values.map(\.database) + left { await database.close() }
    people = [:]
    left = []
  }
}

/// What the server of a script holds, as an administrator sees it over a connection of its own.
@MainActor
final class ScriptedData {
  private let database: Database
  /// What was found at the path that was read last; nil while the server has not answered.
  private let found = NIOLockedValueBox<Result<JSONValue, any Error>?>(nil)

  init(url: String) throws {
    var options = DatabaseOptions()
    options.readDeadline = nil
    database = try Database(url: url, options: options)
    // The main queue is busy with the program for as long as the script runs.
    database.callbackQueue = DispatchQueue(label: "hearth.script")
  }

  /// Parses a path and what a database would hold of JSON.
  static func parsed(_ path: String, _ json: String) throws -> (path: String, node: Node) {
    let path = try DatabasePath.parse(path)
    let node = try Node(json: try JSONParser.parse(json))
    if let problem = Validation.problem(with: node, at: Path(wire: path)) {
      throw CommandFailure(.usage, problem)
    }
    return (path, node)
  }

  /// Reads a path and compares what is there with JSON, or reports the progress of that.
  ///
  /// After a refusal the path is read once more.
  func compare(_ path: String, with json: String, isFirst: Bool) -> Script.Progress {
    do {
      let wanted = try Self.parsed(path, json)
      guard !isFirst, let answer = found.withLockedValue({ $0 }) else {
        if isFirst { read(wanted.path) }
        return .underWay
      }
      let there = try answer.get()
      if try Node(json: there) == wanted.node { return .done }
      read(wanted.path)
      return .refused("the server has \(SafeText(untrusted: there.text).string) at \(path)")
    } catch {
      return .refused("\(path) cannot be read: \(error)")
    }
  }

  private func read(_ path: String) {
    found.withLockedValue { $0 = nil }
    database.reference(withPath: path).getData { @Sendable [found] error, snapshot in
      found.withLockedValue {
        $0 = error.map { .failure($0) } ?? .success(snapshot?.jsonValue ?? .null)
      }
    }
  }

  func close() async { await database.close() }
}
