import BlogSwarm
import HearthProgram

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
    Output.message("signing \(settings.users + terminals) users up")
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
        "\(emails.count) accounts are not deleted (\(reason)): \(emails.joined(separator: ", "))"
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
      Output.message("what the swarm has written is removed from the database: \(count) posts")
      return true
    } catch {
      Output.message("what the swarm has written stays in the database: \(error)")
      return false
    }
  }
}
