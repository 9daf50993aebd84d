import Foundation
import HearthLab
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport

/// Polls the server's metrics and checks its data.
///
/// It uses a different route from the terminals: it connects as an administrator, over HTTP.
final class DemoMeter: Sendable {
  /// How long a copy may differ from its post in every check.
  private static let patience = Duration.seconds(10)
  private static let interval = Duration.milliseconds(500)

  private let admin: AdminClient
  private let board: DemoBoard
  private let figuresFile: String?
  private let behind = NIOLockedValueBox<[String: ContinuousClock.Instant]>([:])

  init(_ url: String, board: DemoBoard, figuresFile: String?) throws {
    admin = AdminClient(try DatabaseURL(url).target, timeout: .seconds(5))
    self.board = board
    self.figuresFile = figuresFile
  }

  /// The data of the whole database; nil when the server does not answer.
  func root() async -> JSONValue? {
    try? await admin.get("/")
  }

  /// Measures until the demonstration is over.
  func run() async {
    var before: (writes: Int64, time: ContinuousClock.Instant)?
    while !board.now.hasEnded {
      if let numbers = try? await admin.get("/.info/metrics") {
        let now = ContinuousClock.now
        let writes = take(numbers)
        if let before, writes >= before.writes { note(writes - before.writes, since: before.time) }
        before = (writes, now)
      }
      if let root = await root() {
        look(through: root)
      } else {
        // While the server does not answer, nothing can follow.
        behind.withLockedValue { $0 = [:] }
      }
      keep()
      await Pause.lasting(Self.interval)
    }
    keep()
  }

  /// Takes the server's metrics, and returns how many writes it has answered since its start.
  private func take(_ numbers: JSONValue) -> Int64 {
    let database = numbers["databases"]?["hearth"]
    board.with { figures in
      figures.answeredAt = .now
      figures.connections = numbers["connections"]?.integer ?? 0
      figures.revision = database?["revision"]?.integer ?? 0
    }
    return database?["requests"]?["write"]?.integer ?? 0
  }

  private func note(_ writes: Int64, since time: ContinuousClock.Instant) {
    let seconds = (ContinuousClock.now - time) / .seconds(1)
    board.with { figures in
      figures.operations += writes
      // A running mean over about three seconds, which people can read.
      let share = min(1, seconds / 3)
      figures.rate += (Double(writes) / max(0.001, seconds) - figures.rate) * share
    }
  }

  /// Looks for contradictions; one that is seen once is reported until the end.
  func look(through root: JSONValue) {
    let audit = DemoAudit(root)
    let lasting = note(audit.behind)
    board.with { figures in
      figures.checks += 1
      figures.posts = audit.posts
      figures.stars = audit.stars
      figures.copiesBehind = audit.behind.count
      for violation in audit.violations + lasting where !figures.violations.contains(violation) {
        figures.violations.append(violation)
      }
    }
  }

  /// Records which copies differ, and returns the violations for those that do not catch up.
  private func note(_ posts: Set<String>) -> [String] {
    let now = ContinuousClock.now
    return behind.withLockedValue { behind in
      behind = behind.filter { posts.contains($0.key) }
      for post in posts where behind[post] == nil { behind[post] = now }
      return behind.filter { now - $0.value > Self.patience }.keys.sorted()
        .map { "/posts/\($0) and its copy differ" }
    }
  }

  private func keep() {
    guard let figuresFile else { return }
    let data = try? JSONEncoder().encode(board.now.result)
    try? data?.write(to: URL(fileURLWithPath: figuresFile), options: .atomic)
  }
}

/// Looks for contradictions in a blog as the server's own interface shows it, without the client
/// library.
///
/// A count must equal the number of its stars at all times. Each post has an equal copy, which
/// follows within moments, so a copy that differs is suspicious only if it stays that way.
struct DemoAudit: Sendable {
  private(set) var posts = 0
  private(set) var stars = 0
  private(set) var violations: [String] = []
  /// The posts whose copies differ at this moment.
  private(set) var behind: Set<String> = []

  /// Checks the data of a whole database.
  init(_ root: JSONValue) {
    let copies = root["user-posts"]
    for member in root["posts"]?.members ?? [] {
      posts += 1
      let post = member.value
      let count = post["stars"]?.members?.count ?? 0
      stars += count
      let told = post["starCount"]?.integer ?? 0
      if told != Int64(count) {
        violations.append("/posts/\(member.name): starCount is \(told), stars are \(count)")
      }
      let copy = post["uid"]?.string.flatMap { copies?[$0]?[member.name] }
      if copy != post { behind.insert(member.name) }
    }
    for owner in copies?.members ?? [] {
      for copy in owner.value.members ?? [] where root["posts"]?[copy.name] == nil {
        behind.insert(copy.name)
      }
    }
  }

  /// The stars of the post with a title: the count, and the number of stars.
  static func stars(of title: String, in root: JSONValue) -> (counted: Int64, given: Int)? {
    let posts = root["posts"]?.members ?? []
    guard let post = posts.first(where: { $0.value["title"]?.string == title })?.value else {
      return nil
    }
    return (post["starCount"]?.integer ?? 0, post["stars"]?.members?.count ?? 0)
  }

  static func count(of title: String, in root: JSONValue) -> Int {
    (root["posts"]?.members ?? []).count { $0.value["title"]?.string == title }
  }
}

/// Whether several terminals show the same: the posts that two of them show, in the same order and
/// with the same stars.
struct DemoAgreement: Hashable, Sendable {
  /// A post as a line in a list shows it: the beginning of its title, and its stars.
  private struct Row: Hashable {
    let title: String
    let stars: Substring
  }

  /// How many terminals currently show a list.
  let count: Int
  /// How many of them show the same as most of them.
  let equal: Int

  /// Compares the text of some screens, one line per row; a screen without a list is ignored.
  init(_ screens: [String]) {
    let lists = screens.map(Self.rows).filter { !$0.isEmpty }
    count = lists.count
    equal = lists.map { list in lists.count { Self.agree(list, $0) } }.max() ?? 0
  }

  /// Whether there are several lists, and all are the same.
  var isWhole: Bool { count > 1 && equal == count }

  var text: String {
    switch count {
    case 0, 1: "at work"
    default: isWhole ? "all \(count) show the same" : "\(equal) of \(count) show the same"
    }
  }

  private static func agree(_ left: [Row], _ right: [Row]) -> Bool {
    // One may have scrolled, or wait until its user asks for what is new.
    let (lefts, rights) = (Set(left.map(\.title)), Set(right.map(\.title)))
    return left.filter { rights.contains($0.title) } == right.filter { lefts.contains($0.title) }
  }

  /// The lines of a list that end with a star and a number, with or without the selection mark; a
  /// post may be open beside the list.
  private static func rows(of screen: String) -> [Row] {
    screen.split(separator: "\n").compactMap { line in
      guard let match = line.firstMatch(of: #/^[^\p{L}\p{N}]*(\S.*?) +[★☆*+-] +(\d+)\s*([│|].*)?$/#)
      else {
        return nil
      }
      return Row(title: DemoDirector.mark(of: match.1), stars: match.2)
    }
  }
}
