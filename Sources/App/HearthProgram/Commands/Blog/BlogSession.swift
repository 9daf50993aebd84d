import BlogModel
import Dispatch
import Foundation
import RealtimeDatabase

/// A connection to the blog for one command, with a limit on how long it may take.
struct BlogSession {
  let database: Database
  let blog: Blog

  /// Finds or starts the server, and sets the deadline.
  ///
  /// - Parameters:
  ///   - options: What the command line says.
  ///   - namespace: Which database of the local server.
  ///   - starring: How stars are written.
  ///   - isEndless: Whether the command runs until it is ended, without a deadline.
  /// - Throws: ``CommandFailure`` when there is no such database.
  init(
    _ options: CommonOptions,
    namespace: String = "hearth",
    starring: StarOptions? = nil,
    isEndless: Bool = false
  ) throws {
    guard options.timeout > 0, options.timeout.isFinite else {
      throw CommandFailure(.usage, "--timeout must be a number of seconds above 0")
    }
    var configuration = DatabaseOptions()
    let me = try options.signIn(&configuration)
    let server = try options.localServer()
    try server?.ensureRunning()
    configuration.readDeadline = isEndless ? nil : .seconds(options.timeout)
    configuration.maximumReconnectDelay = .seconds(1)
    if let server { configuration.willConnect = { try? server.ensureRunning() } }
    let url = try options.databaseURL(namespace: namespace)
    let stars = starring?.method(at: url, for: me, &configuration) ?? .transaction
    database = try Database(url: url, options: configuration)
    database.callbackQueue = DispatchQueue(label: "hearth.callbacks")
    blog = Blog(database: database, me: me, stars: stars)
    database.observeConnection { status in
      guard let problem = status.problem, problem.isPermanent else { return }
      Output.message(problem.reason)
      exit(ExitStatus.offline.rawValue)
    }
    if !isEndless {
      Self.startDeadline(options.timeout, of: options.database ?? "the local database")
    }
  }

  private static func startDeadline(_ seconds: Double, of name: String) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
      Output.message(
        "\(name) did not answer within \(seconds.formatted()) seconds;"
          + " the command may or may not have taken effect (--timeout sets another limit)"
      )
      exit(ExitStatus.offline.rawValue)
    }
  }
}
