import Foundation
import NIOPosix
import RealtimeServer
import TestSupport
import Testing

@Suite(
  "The Python Admin SDK",
  .enabled(if: PythonEnvironment.isAvailable, Comment(rawValue: PythonEnvironment.problem))
)
struct AdminSDKTests {
  private static let suites = [
    "DataTests", "QueryTests", "ConditionTests", "TransactionTests", "StreamTests", "RulesTests",
  ]

  @Test("gets its usual behavior from the emulator", arguments: suites)
  func unmodified(suite: String) async throws {
    let environment = try PythonEnvironment.shared.get()
    var options = DatabaseServer.Options.emulator(port: 0)
    // The SDK ends a listener only when it receives the next keep-alive.
    try options.limits.set("stream-seconds", to: 1)
    let server = try await DatabaseServer.start(options)
    let port = try #require(server.port)
    let run = try await NIOThreadPool.singleton.runIfActive {
      try environment.run(suite, host: "localhost:\(port)")
    }
    #expect(run.status == 0, Comment(rawValue: run.output))
    #expect(run.output.contains("Ran "), "no test ran")
    await server.stop()
  }

  @Test("gets the same behavior from the program as test suites start it")
  func program() async throws {
    let environment = try PythonEnvironment.shared.get()
    let home = try TemporaryDirectory()
    let outcome = try await NIOThreadPool.singleton.runIfActive {
      let server = try EmulatorProcess(home: home.path, ["--limit", "stream-seconds=1"])
      let runs = try Self.suites.map { try environment.run($0, host: "localhost:\(server.port)") }
      return (runs: runs, status: server.stop())
    }
    #expect(outcome.status == 0)
    for run in outcome.runs {
      #expect(run.status == 0, Comment(rawValue: run.output))
      #expect(run.output.contains("Ran "), "no test ran")
    }
  }
}
