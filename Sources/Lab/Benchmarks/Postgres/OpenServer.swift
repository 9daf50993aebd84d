import Foundation
import HearthLab
import RealtimeCore

/// A database server in its own process that lets every client do everything.
final class OpenServer {
  private static let rules = #"{"rules": {".read": true, ".write": true}}"#

  private let process: HearthProcess
  var port: Int { process.port }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - environment: Provides the program, and a directory for its files.
  ///   - store: The address of a PostgreSQL for its databases; nil for SQLite in the directory.
  ///   - redirects: Whether it sends clients to the server that leads their database.
  ///   - followClients: The number of clients from which it follows a database; 0 means never.
  /// - Throws: ``LoadError`` when it does not start.
  init(
    in environment: BenchmarkEnvironment,
    store: String? = nil,
    redirects: Bool = false,
    followClients: Int = 0
  ) throws {
    process = try HearthProcess(in: environment) { folder in
      let rules = "\(folder)/rules.json"
      try Data(Self.rules.utf8).write(to: URL(fileURLWithPath: rules))
      return [
        "--rules", rules, "--limit", "writes-per-second=1000000", "--limit", "write-burst=1000000",
        "--limit", "follow-clients=\(followClients)",
      ] + (store.map { ["--store", $0] } ?? ["--data-dir", "\(folder)/data"])
        + (redirects ? ["--redirect"] : [])
    }
  }

  /// Lets every client do everything in a database without rules; false while another server leads
  /// it.
  func open(_ database: String) throws -> Bool {
    try WaitingConnection(to: process.target(.unix))
      .request("PUT", at: "/.settings/rules.json?ns=\(database)", body: Self.rules).status == 200
  }

  /// Waits until the server answers so many listeners from its copy of the default database.
  func waitForCopy(listenedToBy count: Int) throws {
    let socket = try process.target(.unix)
    for _ in 0..<200 {
      let body = try WaitingConnection(to: socket).request("GET", at: "/.info/metrics.json").body
      let copy = try JSONParser.parse(body)["copies"]?["hearth"]
      if copy?["listens"]?.integer == Int64(count) { return }
      usleep(50_000)
    }
    throw LoadError("port \(port) does not follow the database")
  }

  /// The processor time of the server so far, to a system tick.
  var processorTime: Duration {
    ProcessorTime.duration(ofTicks: ProcessorTime.ticks(of: process.id))
  }

  func target() throws -> LoadTarget { try process.target() }
}

/// The PostgreSQL that a benchmark shares with its yardsticks; it ends with the last of them.
///
/// It waits for the disk before it acknowledges, as a production server does.
final class SharedPostgres {
  private static let settings = [
    "fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=128MB",
    "max_connections=300",
  ]

  private let environment: BenchmarkEnvironment
  private weak var running: PostgresServer?

  init(in environment: BenchmarkEnvironment) {
    self.environment = environment
  }

  /// The running server, or else a new one.
  func server() throws -> PostgresServer {
    if let running { return running }
    guard PostgresServer.programs != nil else {
      throw MissingTool(description: "PostgreSQL is not installed (apt-get install postgresql)")
    }
    let server = try PostgresServer(settings: Self.settings, in: environment.folder)
    running = server
    return server
  }
}
