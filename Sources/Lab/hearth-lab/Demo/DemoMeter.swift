import BlogSwarm
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport

/// Reads the numbers of the server, and looks through its data, again and again.
///
/// It comes in by another way than the terminals: as an administrator, over HTTP.
final class DemoMeter: Sendable {
  /// How long a copy may be behind its post in every look.
  private static let patience = Duration.seconds(10)
  private static let interval = Duration.milliseconds(500)

  private let admin: AdminClient
  private let board: DemoBoard
  private let figuresFile: String?
  private let behind = NIOLockedValueBox<[String: ContinuousClock.Instant]>([:])

  /// Makes a meter.
  ///
  /// - Parameters:
  ///   - target: The server.
  ///   - board: What takes the numbers.
  ///   - figuresFile: A file that is to have them as well.
  init(_ target: ConnectionTarget, board: DemoBoard, figuresFile: String?) {
    admin = AdminClient(target, timeout: .seconds(5))
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
      if let root = await root() { look(through: root) }
      keep()
      await Pause.lasting(Self.interval)
    }
    keep()
  }

  /// Takes the numbers of the server, and returns how many writes it has answered since its start.
  private func take(_ numbers: JSONValue) -> Int64 {
    let database = numbers["databases"]?["hearth"]
    board.with { figures in
      figures.connections = numbers["connections"]?.integer ?? 0
      figures.revision = database?["revision"]?.integer ?? 0
    }
    return database?["requests"]?["write"]?.integer ?? 0
  }

  private func note(_ writes: Int64, since time: ContinuousClock.Instant) {
    let seconds = (ContinuousClock.now - time) / .seconds(1)
    board.with { figures in
      figures.operations += writes
      // A running mean over about three seconds: what people can read.
      let share = min(1, seconds / 3)
      figures.rate += (Double(writes) / max(0.001, seconds) - figures.rate) * share
    }
  }

  /// Looks for contradictions; one that is seen once is told to the end.
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

  /// Takes down whose copies are behind, and tells of those that do not catch up.
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
    let text = board.now.json.text
    try? Data(text.utf8).write(to: URL(fileURLWithPath: figuresFile), options: .atomic)
  }
}
