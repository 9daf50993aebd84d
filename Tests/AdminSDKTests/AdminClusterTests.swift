import Foundation
import HearthLab
import NIOConcurrencyHelpers
import NIOPosix
import PostgresTestSupport
import TLSTestSupport
import TestSupport
import Testing

/// Three servers on one PostgreSQL, with encryption and an administrators' secret.
@Suite(
  "The Python Admin SDK against a cluster",
  .enabled(if: PythonEnvironment.isAvailable, Comment(rawValue: PythonEnvironment.problem)),
  .needsPostgres,
  .timeLimit(.minutes(5))
)
struct AdminClusterTests {
  private static let key = "0123456789abcdef-0123456789abcdef-secret"

  /// Starts servers, each of which has its own way to PostgreSQL.
  private static func servers(
    home: String,
    postgres: PostgresServer
  ) throws
    -> [(server: EmulatorProcess, way: FaultyNetwork)]
  {
    let store = try postgres.makeDatabase()
    let authority = try CertificateAuthority()
    let issued = try authority.issue()
    for (name, text) in [
      ("ca.pem", authority.certificate), ("cert.pem", issued.certificate), ("key.pem", issued.key),
      ("key", key + "\n"),
    ] {
      try text.write(toFile: "\(home)/\(name)", atomically: true, encoding: .utf8)
      chmod("\(home)/\(name)", 0o600)
    }
    return try (0..<3).map { _ in
      let way = try FaultyNetwork(to: postgres.port)
      let server = try EmulatorProcess(
        home: home,
        serving: [
          "--store", way.url(of: store), "--port", "0", "--tls-cert", "\(home)/cert.pem",
          "--tls-key",
          "\(home)/key.pem", "--tls-ca", "\(home)/ca.pem", "--admin-key-file", "\(home)/key",
          "--limit", "follow-clients=1",
        ]
      )
      return (server, way)
    }
  }

  /// Runs a closure while servers are cut off from PostgreSQL by files that are named as they are.
  private static func cutting<Result>(
    _ servers: [(server: EmulatorProcess, way: FaultyNetwork)],
    in folder: String,
    during body: () throws -> Result
  ) throws
    -> Result
  {
    let isOver = NIOLockedValueBox(false)
    let watcher = Thread {
      while !isOver.withLockedValue({ $0 }) {
        for (server, way) in servers {
          way.set(access("\(folder)/\(server.id)", F_OK) == 0 ? .silent : .sound)
        }
        usleep(50_000)
      }
    }
    watcher.start()
    defer { isOver.withLockedValue { $0 = true } }
    return try body()
  }

  @Test(
    "It works through any server, and continues when servers behind its name freeze, are cut off or die",
    arguments: [
      ["test_1_every_server_takes_everything", "test_3_a_leader_is_killed"],
      ["test_2_one_name_outlives_its_servers"],
    ]
  )
  func failing(tests: [String]) async throws {
    let environment = try PythonEnvironment.shared.get()
    let home = try TemporaryDirectory()
    let run = try await NIOThreadPool.singleton.runIfActive {
      let postgres = try PostgresServer.shared.get()
      let servers = try Self.servers(home: home.path, postgres: postgres)
      defer { for (server, _) in servers { kill(server.id, SIGKILL) } }
      let cuts = home.path + "/cuts"
      try FileManager.default.createDirectory(atPath: cuts, withIntermediateDirectories: false)
      return try Self.cutting(servers, in: cuts) {
        try environment.run(
          ["admin_cluster.py", "-v"] + tests.map { "ClusterTests.\($0)" },
          variables: [
            "HEARTH_SERVERS": servers.map { "\($0.server.id)@https://127.0.0.1:\($0.server.port)" }
              .joined(separator: " "),
            "HEARTH_KEY": Self.key, "HEARTH_CUTS": cuts,
            "REQUESTS_CA_BUNDLE": "\(home.path)/ca.pem",
          ]
        )
      }
    }
    for line in run.output.split(separator: "\n") where line.hasPrefix("writes went on") {
      print(line)
    }
    #expect(run.status == 0, Comment(rawValue: run.output))
    #expect(run.output.contains("Ran "), "no test ran")
  }
}
