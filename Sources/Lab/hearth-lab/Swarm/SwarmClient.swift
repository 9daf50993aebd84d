import ArgumentParser
import Foundation
import HearthLab
import HearthProgram
import RealtimeTransport

/// One client process of a swarm, which `hearth swarm` starts and controls.
struct SwarmClient: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swarm-client",
    abstract: "Be the users of one process of a swarm.",
    shouldDisplay: false
  )

  @Option(help: "The directory of the run.")
  var directory: String

  @Option(help: "Which process, counted from 0.")
  var process: Int

  @Option(help: "The URL of the database.")
  var url: String

  @Option(help: "The API key of the database's project.")
  var apiKey: String?

  @Option(help: "The certificates to believe in place of the system's.")
  var caFile: String?

  @Option(help: "The port of this machine through which the database is reached.")
  var detour: Int?

  @Flag(help: "Use the accounts whose credentials are in the directory.")
  var accounts = false

  func run() async throws {
    let file = URL(fileURLWithPath: "\(directory)/settings.json")
    let settings = try JSONDecoder().decode(SwarmSettings.self, from: Data(contentsOf: file))
    FileDescriptors.allowMany()
    var database = try SwarmDatabase(url)
    database.apiKey = apiKey
    database.caFile = caFile
    database.wantsAccounts = accounts
    let crew = try SwarmCrew(
      process: process,
      settings: settings,
      at: database,
      by: detour,
      in: directory
    )
    await crew.work(Self.orders()) { Output.line($0.line) }
  }

  /// The orders from stdin; at its end the swarm is gone, and the users stop as well.
  private static func orders() -> AsyncStream<CrewOrder> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() {
          if let order = CrewOrder(line) { continuation.yield(order) }
        }
        continuation.finish()
      }
    }
  }
}

extension SwarmAccess {
  /// The database; nil if the swarm is to start a server of its own.
  func target() throws -> SwarmDatabase? {
    guard let database else { return nil }
    var target: SwarmDatabase
    do {
      target = try SwarmDatabase(database)
      if let caFile { try TrustRoots.file(caFile).check() }
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
    target.apiKey = apiKey
    // The path is passed to the swarm's clients, which run in another directory.
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

  /// Checks that the database can be reached with administrator rights.
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
        "is not an emulator, which believes everybody; --admin-key-file names the secret of its "
          + "administrators"
      }
    throw CommandFailure(.notPermitted, "\(database.url) \(reason)")
  }
}
