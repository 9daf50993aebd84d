import BlogSwarm
import Foundation
import HearthProgram
import RealtimeTransport

extension SwarmAccess {
  /// The database; nil when the swarm is to have a server of its own.
  ///
  /// - Throws: ``CommandFailure`` for a URL or a file that cannot be used.
  func target() throws -> SwarmDatabase? {
    guard let database else { return nil }
    var target: SwarmDatabase
    do {
      target = try SwarmDatabase(database)
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
    target.apiKey = apiKey
    // Clients of the swarm are told, and they work in another directory.
    target.caFile = caFile.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    guard let adminKeyFile else { return target }
    guard !target.isAtSocket else {
      throw CommandFailure(
        .usage,
        "at a local socket everybody is an administrator; leave --admin-key-file out"
      )
    }
    target.administratorKey = try AdministratorKeyFile.secret(adminKeyFile)
    guard target.administratorKey?.isEmpty == false else {
      throw CommandFailure(.usage, "\(adminKeyFile) is empty")
    }
    return target
  }

  /// Makes sure that the database can be reached, and by an administrator.
  ///
  /// - Throws: ``CommandFailure`` that says what is missing.
  func knock(at database: SwarmDatabase) async throws {
    let isOpen: Bool
    do {
      isOpen = try await database.admin.isOpen()
    } catch let error as HTTPClientError {
      throw CommandFailure(.offline, error.description)
    }
    if isOpen { return }
    let reason =
      if let adminKeyFile {
        "does not take what is in \(adminKeyFile) for the secret of its administrators"
          + (database.isHosted
            ? "; it takes an OAuth2 access token of a service account, and no database secret" : "")
      } else {
        "is no emulator that believes everybody; --admin-key-file names the secret of its "
          + "administrators"
      }
    throw CommandFailure(.notPermitted, "\(database.url) \(reason)")
  }
}
