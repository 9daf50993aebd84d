import Foundation
import HearthLab
import NIOCore
import RealtimeCore

/// A database server in its own process that lets every client do everything.
final class OpenServer {
  private static let rules = #"{"rules": {".read": true, ".write": true}}"#

  private let folder: TemporaryFolder
  private let sockets: TemporaryFolder
  private let program: RunningProgram
  let port: Int

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
    folder = try TemporaryFolder(in: environment.folder)
    // The path of a socket must be short.
    sockets = try TemporaryFolder(in: "/tmp")
    let rules = "\(folder.path)/rules.json"
    try Data(Self.rules.utf8).write(to: URL(fileURLWithPath: rules))
    var announced: Int?
    program = try RunningProgram(
      environment.hearth,
      arguments: [
        "serve", "--port", "0", "--socket", "\(sockets.path)/socket", "--rules", rules, "--limit",
        "writes-per-second=1000000", "--limit",
        "write-burst=1000000", "--limit", "follow-clients=\(followClients)",
      ] + (store.map { ["--store", $0] } ?? ["--data-dir", "\(folder.path)/data"])
        + (redirects ? ["--redirect"] : []),
      in: folder
    ) { line in
      announced = (try? JSONParser.parse(line))?["port"]?.integer.map(Int.init)
      return announced != nil
    }
    guard let announced else { throw LoadError("hearth serve has announced no port") }
    port = announced
  }

  /// Lets every client do everything in a database that has no rules yet.
  ///
  /// - Returns: Whether that worked; it cannot while another server leads the database.
  func open(_ database: String) throws -> Bool {
    try WaitingConnection(to: SocketAddress(unixDomainSocketPath: "\(sockets.path)/socket"))
      .request("PUT", at: "/.settings/rules.json?ns=\(database)", body: Self.rules).status == 200
  }

  /// Waits until the server answers so many listeners from its copy of the default database.
  ///
  /// - Throws: ``LoadError`` when it does not.
  func waitForCopy(listenedToBy count: Int) throws {
    let socket = try SocketAddress(unixDomainSocketPath: "\(sockets.path)/socket")
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
    let text = (try? String(contentsOfFile: "/proc/\(program.id)/stat", encoding: .utf8)) ?? ""
    let fields = text.split(separator: " ")
    guard fields.count > 14, let user = Int(fields[13]), let system = Int(fields[14]) else {
      return .zero
    }
    return .seconds(user + system) / sysconf(Int32(_SC_CLK_TCK))
  }

  /// The address for connections.
  func target() throws -> LoadTarget {
    LoadTarget(
      address: try SocketAddress(ipAddress: "127.0.0.1", port: port),
      dialect: .webSocket
    )
  }
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
  ///
  /// - Throws: ``MissingTool`` when PostgreSQL is not installed.
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
