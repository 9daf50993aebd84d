import ArgumentParser
import BlogSwarm
import Foundation
import RealtimeTransport

/// At which database a swarm is let loose, and what opens it.
struct SwarmAccess: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A database that is there already: at a local socket, of an emulator, or, with \
      --admin-key-file, one that people sign in to.
      """,
      valueName: "url"
    )
  )
  var database: String?

  @Option(
    help: ArgumentHelp("A database elsewhere, by the name of its profile.", valueName: "name")
  )
  var profile: String?

  @Option(
    help: ArgumentHelp(
      """
      The file with the secret of the database's administrators, as hearth serve has it, which only \
      its owner may read; for the hosted service an OAuth2 access token.
      """,
      valueName: "file"
    )
  )
  var adminKeyFile: String?

  @Option(
    help: ArgumentHelp("The API key of the database's project, if it has one.", valueName: "key")
  )
  var apiKey: String?

  @Option(
    help: ArgumentHelp(
      "The certificates to believe in place of the system's, a PEM file.",
      valueName: "path"
    )
  )
  var caFile: String?

  @Flag(help: "Leave in the database what the swarm has written there.")
  var keep = false

  /// Puts what the profile says in the place of options that were not given.
  ///
  /// - Throws: `ValidationError` for options that do not go together.
  mutating func validate() throws {
    if let found = try Profile.chosen(profile, beside: database) {
      database = found.database
      apiKey = apiKey ?? found.apiKey
      caFile = caFile ?? found.caFile
    }
    guard database == nil, adminKeyFile != nil || apiKey != nil || caFile != nil || keep else {
      return
    }
    throw ValidationError(
      "--admin-key-file, --api-key, --ca-file and --keep are about a --database; "
        + "the swarm's own server needs none of them"
    )
  }

  /// Whether the database is at a socket, where everybody is an administrator.
  var isAtSocket: Bool { database?.hasPrefix("unix:") == true }

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
      isOpen = try await database.door.isOpen()
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
