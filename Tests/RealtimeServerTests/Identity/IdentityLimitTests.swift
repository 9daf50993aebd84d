import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Limits of the identity endpoints", .timeLimit(.minutes(3)), .cleansUp)
struct IdentityLimitTests {
  @Test("A sign-in that finds the password queue full gets a 503")
  func queue() async throws {
    let server = try await IdentityServer.start {
      $0.passwordThreads = 1
      $0.passwordQueue = 0
      $0.passwordCost = PasswordCost(roundsLog2: 14, blockSize: 8, parallelism: 1) ?? .token
    }
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<8 {
        group.addTask { try await server.signIn("user\(number)@example.com").status }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.contains(503))
    #expect(statuses.contains(400))
  }

  @Test("However often sessions end within a second, the user can sign in again soon")
  func ends() async throws {
    let key = "an-administrators-key-of-40-characters!!"
    let server = try await IdentityServer.start { $0.administratorKey = AdministratorKey(key) }
    let user = try await server.signUp()
    for _ in 0..<200 {
      try await server.request(
        "POST",
        "/v1/projects/hearth/accounts:update",
        #"{"localId":"\#(user["localId"])","validSince":"1"}"#,
        lines: ["Authorization: Bearer \(key)"],
        gives: 200
      )
    }
    // Its tokens would not be valid yet.
    #expect(try await server.signIn().code == "TOO_MANY_ATTEMPTS_TRY_LATER")
    server.advance(seconds: 31)
    let token = try await server.signIn()["idToken"]
    try await server.request("GET", "/a.json?auth=\(token)", gives: 200)
    try await server.request("GET", "/a.json?auth=\(user["idToken"])", gives: 401)
    await server.server.stop()
  }

  @Test("An unknown email address costs as much work as a wrong password")
  func equalTime() async throws {
    let server = try await IdentityServer.start {
      $0.passwordCost = PasswordCost(roundsLog2: 14, blockSize: 8, parallelism: 1) ?? .token
      $0.attemptsPerAccount = 100
      $0.attemptsPerClient = 200
    }
    _ = try await server.signUp()
    func time(_ email: String) async throws -> Duration {
      let start = ContinuousClock.now
      _ = try await server.signIn(email, "wrong password")
      return ContinuousClock.now - start
    }
    // A busy machine only makes it longer: the shortest of enough rounds is the work itself.
    var (known, unknown) = (Duration.seconds(1_000), Duration.seconds(1_000))
    for round in 1...50 {
      known = min(known, try await time(IdentityServer.ada.email))
      unknown = min(unknown, try await time("nobody@example.com"))
      if round >= 5, max(known, unknown) < min(known, unknown) * 2 { break }
    }
    #expect(max(known, unknown) < min(known, unknown) * 2, "\(known) and \(unknown)")
  }

  @Test("Passwords, tokens, codes and addresses never appear in the log")
  func log() async throws {
    let lines = NIOLockedValueBox<[String]>([])
    let logger = Logger.collecting(lines)
    let directory = try TemporaryDirectory()
    let server = try await IdentityServer.start(
      socketPath: directory.file("s"),
      logger: logger
    )
    let made = try await server.signUp()
    _ = try await server.signIn(IdentityServer.ada.email, "wr0ng-passw0rd")
    let again = try await server.refresh(made["refreshToken"])
    _ = try await server.refresh(again["refresh_token"])
    server.advance(seconds: 120)
    _ = try await server.refresh(made["refreshToken"])
    _ = try await server.accepts(made["idToken"] + "x")
    _ = try await server.post("delete", ["idToken": .string(made["idToken"])])
    await server.server.stop()
    let text = lines.withLockedValue { $0 }.joined(separator: "\n")
    #expect(text.contains("refresh token was used again"))
    for secret in [
      IdentityServer.ada.password, "wr0ng-passw0rd", IdentityServer.ada.email, made["idToken"],
      made["refreshToken"], again["refresh_token"],
    ] {
      #expect(!text.contains(secret))
    }
  }
}
