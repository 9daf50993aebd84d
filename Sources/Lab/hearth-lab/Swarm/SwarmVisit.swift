import BlogSwarm
import Foundation
import HearthProgram
import NIOConcurrencyHelpers

/// The stay of a swarm at a database that is there already: it comes with accounts, if it needs some,
/// and leaves nothing behind.
actor SwarmVisit {
  /// How a stay ends.
  enum Ending {
    /// Everything held, and nobody needs to look at anything.
    case clean
    /// What was written is evidence.
    case unclean
    /// Somebody wants it to end at once.
    case interrupted
  }

  private let database: SwarmDatabase
  private let accounts: SwarmAccounts?
  private let keeps: Bool
  /// What tells the people of this run from those of others, who may have left something.
  private let run = String(UInt32.random(in: .min ... .max), radix: 36)
  private var uids: [String] = []
  private var departure: Task<Bool, Never>?

  /// Prepares a stay.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - directory: The directory of the run.
  ///   - keeps: Whether what the swarm writes is to stay in any case.
  init(at database: SwarmDatabase, in directory: String, keeps: Bool) {
    self.database = database
    self.keeps = keeps
    accounts =
      database.hasAccounts ? SwarmAccounts(ofRun: run, at: database, in: directory) : nil
  }

  /// Makes the accounts, where there are to be some.
  ///
  /// - Parameters:
  ///   - settings: What the run is to be.
  ///   - terminals: How many terminals look on.
  /// - Returns: Who the users are.
  /// - Throws: `SwarmAccounts.Problem` or `AuthError`.
  func arrive(_ settings: SwarmSettings, terminals: Int) async throws -> [String] {
    guard let accounts else {
      uids = (0..<settings.users).map { "\(SwarmSettings.name($0))-\(run)" }
      return uids
    }
    let count = settings.users + terminals
    Output.message("signing \(count == 1 ? "1 user" : "\(count) users") up")
    let users = try await accounts.make(for: settings, terminals: terminals)
    uids = await accounts.uids
    return users
  }

  /// Removes what was written, where nobody is to look at it, and deletes the accounts.
  ///
  /// - Parameter ending: How the stay ends; it counts what is said first.
  /// - Returns: Whether all of it worked.
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
      Output.message("the accounts are deleted")
    } else {
      Output.message(
        (emails.count == 1 ? "1 account is" : "\(emails.count) accounts are")
          + " not deleted (\(reason)): \(emails.joined(separator: ", "))"
      )
    }
    return isSwept && emails.isEmpty
  }

  private func sweep(_ ending: Ending) async -> Bool {
    if keeps || ending == .unclean {
      if !uids.isEmpty {
        Output.message(
          "what the swarm has written stays in the database: posts and comments of "
            + "\(SwarmSettings.name(0)) and so on" + (keeps ? "" : ", for you to look at")
        )
      }
      return true
    }
    do {
      let count = try await SwarmSweep(database.admin).remove(uids)
      let posts = ProgressLine.count(count, "post")
      Output.message("what the swarm has written is removed from the database: \(posts)")
      return true
    } catch {
      Output.message("what the swarm has written stays in the database: \(error)")
      return false
    }
  }
}

/// A run from the arrival of its users to the last trace that they leave.
struct SwarmOuting {
  private let settings: SwarmSettings
  private let options: SwarmRun.Options
  private let folder: SwarmFolder
  private let visit: SwarmVisit?

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - settings: What the run is to be.
  ///   - options: How it is carried out.
  ///   - folder: Its directory.
  ///   - keeps: Whether what is written at a database elsewhere is to stay there.
  init(
    _ settings: SwarmSettings,
    options: SwarmRun.Options,
    in folder: SwarmFolder,
    keeps: Bool
  ) {
    self.settings = settings
    self.options = options
    self.folder = folder
    visit = options.database.map { SwarmVisit(at: $0, in: folder.path, keeps: keeps) }
  }

  /// Carries the run out, and clears up after it, however it ends.
  ///
  /// - Returns: What it was.
  /// - Throws: What keeps it from being carried out.
  func result() async throws -> SwarmReport {
    let current = NIOLockedValueBox<SwarmRun?>(nil)
    let interruption = SwarmInterruption { [visit, folder] in
      await current.withLockedValue(\.self)?.abandon()
      _ = await visit?.leave(.interrupted)
      folder.remove()
    }
    let watch = interruption.watch()
    defer { watch.cancel() }
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

/// Ends a run when the person at the terminal or the system wants that, after it has been cleared up.
final class SwarmInterruption: Sendable {
  private let ending = NIOLockedValueBox<Task<Void, Never>?>(nil)
  private let clearUp: @Sendable () async -> Void

  /// Describes an end.
  ///
  /// - Parameter clearUp: What is done before the process ends.
  init(_ clearUp: @escaping @Sendable () async -> Void) {
    self.clearUp = clearUp
  }

  /// Begins to wait for a signal; a second one ends the process at once.
  func watch() -> SignalWatch {
    SignalWatch(SIGINT, SIGTERM, SIGHUP) {
      let isFirst = self.ending.withLockedValue { ending in
        guard ending == nil else { return false }
        ending = Task {
          await self.clearUp()
          _exit(Self.status)
        }
        return true
      }
      if isFirst { Output.message("clearing up") } else { _exit(Self.status) }
    }
  }

  /// Waits for the end of the process if it has been asked for.
  func finishIfBegun() async {
    await ending.withLockedValue(\.self)?.value
  }

  /// What a shell says of a program that was interrupted.
  private static let status: Int32 = 128 + SIGINT
}

/// The directory of one run of a swarm.
struct SwarmFolder {
  /// Where it is; short, since the paths of sockets must be.
  let path: String
  private let isTemporary: Bool

  /// Makes the directory.
  ///
  /// - Parameter path: Where, or nil for a temporary one.
  /// - Throws: ``CommandFailure`` when it cannot be made, or there is something already.
  init(_ path: String?) throws(CommandFailure) {
    isTemporary = path == nil
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let temporary = "\(base)/hearth-swarm-\(getpid())"
    // Other programs are told where it is, and work in other directories.
    self.path = URL(fileURLWithPath: path ?? temporary).standardizedFileURL.path
    guard mkdir(self.path, 0o700) == 0 else {
      throw CommandFailure(
        .usage,
        description: "\(self.path) cannot be made: \(String(cString: strerror(errno)))"
      )
    }
  }

  /// Removes the directory, unless someone has named it, and tells whether it is gone.
  @discardableResult
  func remove() -> Bool {
    isTemporary && (try? FileManager.default.removeItem(atPath: path)) != nil
  }
}
