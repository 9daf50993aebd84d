import ArgumentParser
import BlogSwarm
import Foundation
import HearthProgram

/// One process of clients of a swarm, which `hearth swarm` starts and steers.
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
    var access = SwarmCrew.Access(url: url, directory: directory)
    access.apiKey = apiKey
    access.caFile = caFile
    access.detour = detour
    access.hasAccounts = accounts
    let crew = try SwarmCrew(process: process, settings: settings, access: access)
    await crew.work(Self.orders()) { Output.line($0.line) }
  }

  /// What is said on stdin; whoever says nothing more has gone, and the users go as well.
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
