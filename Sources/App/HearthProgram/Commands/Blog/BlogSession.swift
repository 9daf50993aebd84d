import ArgumentParser
import BlogModel
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import RealtimeDatabase

/// A command that reads or writes the blog as the user whom its options name.
protocol BlogCommand: AsyncParsableCommand {
  var options: CommonOptions { get }
}

/// A connection to the blog for one command, with a limit on how long it may take.
struct BlogSession {
  let database: Database
  let blog: Blog
  let options: CommonOptions
  private let outlook: NIOLockedValueBox<ConnectionOutlook>

  /// Finds or starts the server, and sets the deadline.
  ///
  /// Whoever acts as the user, and not as the owner of the local database, is under its rules.
  ///
  /// - Throws: ``CommandFailure`` when there is no such database.
  init(
    _ options: CommonOptions,
    namespace: String = "hearth",
    starring: StarOptions? = nil,
    asUser: Bool = false,
    isEndless: Bool = false
  ) throws {
    self.options = options
    var configuration = DatabaseOptions()
    let me = try options.signIn(&configuration)
    let server = try options.localServer()
    try server?.ensureRunning()
    // The command's deadline is the only one, so that there is one message for it.
    configuration.readDeadline = nil
    configuration.writeDeadline = nil
    configuration.maximumReconnectDelay = .seconds(1)
    if let server { configuration.willConnect = { try? server.ensureRunning() } }
    let url = try options.databaseURL(namespace: namespace, at: server?.paths)
    let stars =
      starring?.method(at: url, for: me, &configuration)
      ?? (asUser ? .automatic(at: url, for: me, &configuration) : .transaction)
    database = try Database(url: url, options: configuration)
    database.callbackQueue = DispatchQueue(label: "hearth.callbacks")
    blog = Blog(database: database, me: me, stars: stars)
    outlook = NIOLockedValueBox(ConnectionOutlook())
    // A person who waits is told the reason; a script gets its answer at the end.
    let tellsMeanwhile = isEndless || isatty(STDERR_FILENO) == 1
    database.observeConnection { [outlook] status in
      let (isNew, problem) = outlook.withLockedValue { ($0.take(status), $0.problem) }
      guard let problem else { return }
      if problem.isPermanent {
        Output.message(problem.reason)
        let status: ExitStatus = problem.cause == .signInRefused ? .notPermitted : .offline
        exit(status.rawValue)
      }
      if isNew, tellsMeanwhile { Output.message("\(problem.reason); it is tried again") }
    }
    if !isEndless { startDeadline(options.timeout) }
  }

  /// The same under the name that the local database has for the user, for what others see of it.
  func named() async throws -> BlogSession {
    if try options.accounts() == nil, options.user == nil { try await blog.adoptName() }
    return self
  }

  /// Ends the program after some time, unless the result is cancelled before.
  @discardableResult
  func startDeadline(_ seconds: Double) -> DispatchWorkItem {
    let end = DispatchWorkItem { [outlook] in
      Output.message(outlook.withLockedValue { $0.verdict(after: seconds) })
      exit(ExitStatus.offline.rawValue)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: end)
    return end
  }
}

/// What a command knows about its connection, for the message with which it gives up.
struct ConnectionOutlook {
  private var status: ConnectionStatus?
  private var hasBeenConnected = false
  private var toldReason: String?

  /// Why there is no connection, if there is none.
  var problem: ConnectionStatus.Problem? { status?.problem }

  /// Records the state of the connection; returns whether there is a problem not yet reported.
  mutating func take(_ status: ConnectionStatus) -> Bool {
    self.status = status
    if status.phase == .connected { hasBeenConnected = true }
    guard let reason = status.problem?.reason, reason != toldReason else { return false }
    toldReason = reason
    return true
  }

  /// Why the command has not finished in time: the cause, the fate of its writes, and what to do.
  func verdict(after seconds: Double) -> String {
    let time = "\(seconds.formatted()) s"
    var text: String
    if let problem {
      text = "\(problem.reason) (tried for \(time), --timeout sets another limit)"
    } else {
      let address = status?.address ?? "the database"
      let name = address.hasPrefix("/") ? "the local server at \(address)" : address
      text = "no answer from \(name) within \(time) (--timeout sets another limit)"
    }
    // Only a write leaves doubt, and only if it may have been sent.
    if let pending = status?.pendingWrites, pending > 0 {
      text +=
        hasBeenConnected
        ? "; what was written may or may not have taken effect" : "; nothing was written"
    }
    return text
  }
}
