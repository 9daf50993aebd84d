import Foundation
import NIOPosix
import RealtimeServer
import Testing

@Suite(
  "The administration SDK for Python",
  .enabled(if: PythonEnvironment.isAvailable, Comment(rawValue: PythonEnvironment.problem))
)
struct AdminSDKTests {
  @Test(
    "finds in an emulator what it is used to",
    arguments: [
      "DataTests", "QueryTests", "ConditionTests", "TransactionTests", "StreamTests", "RulesTests",
    ]
  )
  func unmodified(suite: String) async throws {
    let environment = try PythonEnvironment.shared.get()
    var options = DatabaseServer.Options.emulator(port: 0)
    // The SDK ends a listener when it hears the next sign of life, and not before.
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
}
