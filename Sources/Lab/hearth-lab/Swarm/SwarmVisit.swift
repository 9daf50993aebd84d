import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers

/// The visit of a swarm to an existing database.
///
/// It brings accounts, if it needs any, and leaves nothing behind.
actor SwarmVisit {
  enum Ending {
    /// Everything held, so nothing needs to be examined.
    case clean
    /// The written data is evidence.
    case unclean
    /// The user wants the run to end at once.
    case interrupted
  }

  private let database: SwarmDatabase
  private let accounts: SwarmAccounts?
  private let keeps: Bool
  private let tell: @Sendable (String) -> Void
  /// Distinguishes the users of this run from those of other runs, which may have left some behind.
  private let run = String(UInt32.random(in: .min ... .max), radix: 36)
  private var uids: [String] = []
  private var departure: Task<Bool, Never>?

  init(
    at database: SwarmDatabase,
    in directory: String,
    keeps: Bool,
    tell: @escaping @Sendable (String) -> Void
  ) {
    self.database = database
    self.tell = tell
    self.keeps = keeps
    accounts =
      database.hasAccounts ? SwarmAccounts(ofRun: run, at: database, in: directory) : nil
  }

  /// Creates the accounts, if any are needed.
  func arrive(_ settings: SwarmSettings, terminals: Int) async throws -> [String] {
    guard let accounts else {
      uids = (0..<settings.users).map { "\(SwarmSettings.name($0))-\(run)" }
      return uids
    }
    let count = settings.users + terminals
    tell("signing \(count == 1 ? "1 user" : "\(count) users") up")
    let users = try await accounts.make(for: settings, terminals: terminals)
    uids = await accounts.uids
    return users
  }

  /// Deletes the accounts, and the written data unless it is evidence; false if something is left.
  func leave(_ ending: Ending) async -> Bool {
    if let departure { return await departure.value }
    let departure = Task { await self.depart(ending) }
    self.departure = departure
    return await departure.value
  }

  private func depart(_ ending: Ending) async -> Bool {
    let isSwept = await sweep(ending)
    guard let accounts else { return isSwept }
    let (emails, reason) = await accounts.delete()
    if emails.isEmpty {
      tell("the accounts are deleted")
    } else {
      tell(
        (emails.count == 1 ? "1 account is" : "\(emails.count) accounts are")
          + " not deleted (\(reason)): \(emails.joined(separator: ", "))"
      )
    }
    return isSwept && emails.isEmpty
  }

  private func sweep(_ ending: Ending) async -> Bool {
    if keeps || ending == .unclean {
      if !uids.isEmpty {
        tell(
          "what the swarm has written stays in the database: posts and comments of "
            + "\(SwarmSettings.name(0)) and so on" + (keeps ? "" : ", for you to look at")
        )
      }
      return true
    }
    do {
      let count = try await SwarmSweep(database.admin).remove(uids)
      let posts = ProgressLine.count(count, "post")
      tell("what the swarm has written is removed from the database: \(posts)")
      return true
    } catch {
      tell("what the swarm has written stays in the database: \(error)")
      return false
    }
  }
}

/// A run, from the arrival of its users to the removal of their last trace.
struct SwarmOuting {
  private let settings: SwarmSettings
  private let options: SwarmRun.Options
  private let folder: SwarmFolder
  private let visit: SwarmVisit?
  private let current = NIOLockedValueBox<SwarmRun?>(nil)
  private let interruption: SwarmInterruption

  init(
    _ settings: SwarmSettings,
    options: SwarmRun.Options,
    in folder: SwarmFolder,
    keeps: Bool
  ) {
    self.settings = settings
    self.options = options
    self.folder = folder
    visit = options.database.map { database in
      SwarmVisit(at: database, in: folder.path, keeps: keeps) { [tell = options.tell] message in
        tell(.message(message))
      }
    }
    interruption = SwarmInterruption { [visit, folder, current] in
      await current.withLockedValue(\.self)?.abandon()
      _ = await visit?.leave(.interrupted)
      folder.remove()
    }
  }

  /// Ends the run at once, and then the process with the status that shells use for the signal.
  func end(_ signal: Int32) async {
    interruption.begin(signal)
    await interruption.finishIfBegun()
  }

  /// Carries out the run, and cleans up after it however it ends.
  ///
  /// - Parameter watching: Whether signals end it; otherwise whoever has the terminal hears them.
  /// - Returns: The report of the run.
  /// - Throws: The error that prevented the run.
  func result(watching: Bool = true) async throws -> SwarmReport {
    let watch = watching ? interruption.watch() : nil
    defer { watch?.cancel() }
    do {
      var settings = settings
      if let visit {
        settings.uids = try await visit.arrive(settings, terminals: options.terminals)
      }
      let run = try SwarmRun(settings, options: options)
      current.withLockedValue { $0 = run }
      var report = try await run.run()
      await interruption.finishIfBegun()
      if await visit?.leave(report.isClean ? .clean : .unclean) == false {
        report.mishaps.append("the swarm has left something in the database")
      }
      return report
    } catch {
      await interruption.finishIfBegun()
      _ = await visit?.leave(.unclean)
      throw error
    }
  }
}

/// Cleans up and ends the run when the user or the system interrupts it.
final class SwarmInterruption: Sendable {
  private let ending = NIOLockedValueBox<Task<Void, Never>?>(nil)
  private let clearUp: @Sendable () async -> Void

  init(_ clearUp: @escaping @Sendable () async -> Void) {
    self.clearUp = clearUp
  }

  /// Starts watching for signals; a second one ends the process at once.
  func watch() -> SignalWatch {
    SignalWatch(SIGINT, SIGTERM, SIGHUP) { self.begin(SIGINT) }
  }

  /// Clears up and ends the process; at once if that has begun before.
  func begin(_ signal: Int32) {
    let status = 128 + signal
    let isFirst = ending.withLockedValue { ending in
      guard ending == nil else { return false }
      ending = Task {
        await self.clearUp()
        _exit(status)
      }
      return true
    }
    if isFirst { Output.message("clearing up") } else { _exit(status) }
  }

  /// Waits for the end of the process if an interruption has begun.
  func finishIfBegun() async {
    await ending.withLockedValue(\.self)?.value
  }
}

/// The directory of one run of a swarm.
struct SwarmFolder {
  /// The path, which is short because the paths of sockets must be.
  let path: String
  private let isTemporary: Bool

  /// Makes the directory, or a temporary one without a path.
  init(_ path: String?) throws(CommandFailure) {
    isTemporary = path == nil
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let temporary = "\(base)/hearth-swarm-\(getpid())"
    // The path is passed to other programs, which run in other directories.
    self.path = URL(fileURLWithPath: path ?? temporary).standardizedFileURL.path
    guard mkdir(self.path, 0o700) == 0 else {
      throw CommandFailure(
        .usage,
        "\(self.path) cannot be made: \(String(cString: strerror(errno)))"
      )
    }
  }

  /// Removes the directory unless the user chose it; returns whether it is gone.
  @discardableResult
  func remove() -> Bool {
    isTemporary && (try? FileManager.default.removeItem(atPath: path)) != nil
  }
}
