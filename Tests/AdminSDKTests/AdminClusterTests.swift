import Foundation
import HearthLab
import NIOPosix
import PostgresTestSupport
import TLSTestSupport
import TestSupport
import Testing

/// Three servers on one PostgreSQL, with encryption and an administrators' secret.
@Suite(
  "The Python Admin SDK against a cluster",
  .enabled(if: PythonEnvironment.isAvailable, Comment(rawValue: PythonEnvironment.problem)),
  .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(5))
)
struct AdminClusterTests {
  private static let key = "0123456789abcdef-0123456789abcdef-secret"

  /// Starts the servers.
  private static func servers(
    _ count: Int,
    home: String,
    store: String
  ) throws
    -> [EmulatorProcess]
  {
    let authority = try CertificateAuthority()
    let issued = try authority.issue()
    for (name, text) in [
      ("ca.pem", authority.certificate), ("cert.pem", issued.certificate), ("key.pem", issued.key),
      ("key", key + "\n"),
    ] {
      try text.write(toFile: "\(home)/\(name)", atomically: true, encoding: .utf8)
      chmod("\(home)/\(name)", 0o600)
    }
    return try (0..<count).map { _ in
      try EmulatorProcess(
        home: home,
        serving: [
          "--store", store, "--port", "0", "--tls-cert", "\(home)/cert.pem", "--tls-key",
          "\(home)/key.pem", "--tls-ca", "\(home)/ca.pem", "--admin-key-file", "\(home)/key",
          "--limit", "follow-clients=1",
        ]
      )
    }
  }

  @Test(
    "It works through any server, and goes on when those behind its one name are frozen or killed",
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
      let servers = try Self.servers(3, home: home.path, store: try postgres.makeDatabase())
      defer { for server in servers { kill(server.id, SIGKILL) } }
      return try environment.run(
        ["admin_cluster.py", "-v"] + tests.map { "ClusterTests.\($0)" },
        variables: [
          "HEARTH_SERVERS": servers.map { "\($0.id)@https://127.0.0.1:\($0.port)" }
            .joined(separator: " "),
          "HEARTH_KEY": Self.key,
          "REQUESTS_CA_BUNDLE": "\(home.path)/ca.pem",
        ]
      )
    }
    for line in run.output.split(separator: "\n") where line.hasPrefix("writes went on") {
      print(line)
    }
    #expect(run.status == 0, Comment(rawValue: run.output))
    #expect(run.output.contains("Ran "), "no test ran")
  }
}
