import Foundation
import HearthLab

extension Yardstick {
  /// PostgreSQL's own benchmark program: each client repeatedly inserts a row of 300 bytes into a
  /// log.
  static func pgbench(
    clients: Int,
    at postgres: SharedPostgres,
    in environment: BenchmarkEnvironment
  ) -> Yardstick {
    Yardstick("pgbench INSERT") {
      let server = try postgres.server()
      let run = try PgbenchRun(clients: clients, at: server, in: environment)
      return { try run.measure() }
    }
  }
}

/// A table with a log, and the program that appends to it.
private final class PgbenchRun {
  private let server: PostgresServer
  private let program: String
  private let folder: TemporaryFolder
  private let database: String
  private let clients: Int

  /// Creates the table, in a database of its own.
  init(clients: Int, at server: PostgresServer, in environment: BenchmarkEnvironment) throws {
    let own = "\(PostgresServer.programs ?? "")/pgbench"
    program =
      FileManager.default.isExecutableFile(atPath: own)
      ? own : try BenchmarkEnvironment.program("pgbench")
    self.server = server
    self.clients = clients
    folder = try TemporaryFolder(in: environment.folder)
    database = try server.makeDatabase()
    try server.sql(
      """
      CREATE TABLE log (revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text)
      """,
      at: database
    )
    let row = String(repeating: "a line of text, ", count: 20).prefix(BlogWire.writeBytes)
    try "INSERT INTO log (payload) VALUES ('\(row)');\n"
      .write(toFile: "\(folder.path)/script", atomically: true, encoding: .utf8)
  }

  /// Runs for one second.
  func measure() throws -> Figure {
    let log = "\(folder.path)/log"
    let text = Tool.output(of: [
      program, "-n", "-M", "prepared", "-f", "\(folder.path)/script", "-c", "\(clients)", "-j",
      "\(min(clients, 2))", "-T", "1", "--log", "--log-prefix", log, database,
    ])
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
      let rate = line.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
    else { throw LoadError("\(program) failed") }
    return Figure(value: rate, unit: .rate, latency: Latency(of: try takeSamples()))
  }

  /// The durations of the statements in nanoseconds; each thread leaves a file with them.
  private func takeSamples() throws -> [UInt32] {
    var samples: [UInt32] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasPrefix("log.") {
      let path = "\(folder.path)/\(name)"
      for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
        // Client, number and time in microseconds.
        let words = line.split(separator: " ")
        guard words.count > 2, let time = UInt32(words[2]) else { continue }
        samples.append(time.multipliedReportingOverflow(by: 1_000).partialValue)
      }
      try FileManager.default.removeItem(atPath: path)
    }
    return samples
  }
}
