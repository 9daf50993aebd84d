import ArgumentParser
import FaultyStorage
import Foundation
import RealtimeCore
import RealtimeServer

/// A server for tests, like `hearth serve` but with a fault.
@main
struct FaultyServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    subcommands: [FailingDisk.self, MistakenServer.self],
    defaultSubcommand: FailingDisk.self
  )
}

/// A server whose disk fails for a while.
struct FailingDisk: AsyncParsableCommand {
  @Option var socket: String
  @Option var dataDir: String
  @Option(help: "What fails.") var fault: DiskFault.Kind
  @Option(help: "Which of them is the first to fail.") var number: Int
  @Option(help: "How many fail before the disk works again.") var times: Int

  func run() async throws {
    let disk = FaultyDisk(directory: dataDir)
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let store = try SQLiteTreeStore(directory: dataDir, now: now)
    disk.fail(DiskFault(fault, at: number, times: times))
    let options = DatabaseServer.Options(socketPath: socket)
    let server = try await DatabaseServer.start(options, store: store)
    let ready = JSONValue.object(
      ("ready", .bool(true)),
      ("socket", .string(socket)),
      ("pid", .integer(Int64(getpid())))
    )
    FileHandle.standardOutput.write(Data("\(ready.text)\n".utf8))
    try await server.waitUntilStopped()
  }
}

extension DiskFault.Kind: ExpressibleByArgument {}
