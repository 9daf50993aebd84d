import RealtimeServer
import TestSupport
import Testing

/// An attacker who does not know a password, and its owner.
@Suite("Guessing passwords", .timeLimit(.minutes(1)), .cleansUp)
struct PasswordAttackTests {
  private let wrong = "INVALID_LOGIN_CREDENTIALS"

  @Test("does not lock the owner out but delays every further guess")
  func lockout() async throws {
    let delay = 150
    let server = try await IdentityServer.start { $0.accountDelay = Int64(delay) }
    _ = try await server.signUp()
    for _ in 0..<10 {
      #expect(try await server.signIn(IdentityServer.ada.email, "wrong password").code == wrong)
    }
    let start = ContinuousClock.now
    for _ in 0..<4 {
      #expect(try await server.signIn(IdentityServer.ada.email, "wrong password").code == wrong)
    }
    #expect(try await server.signIn().status == 200)
    #expect(ContinuousClock.now - start >= .milliseconds(5 * delay))
    // The right password ends the waiting.
    #expect(try await server.signIn(IdentityServer.ada.email, "wrong password").code == wrong)
    #expect(try await server.signIn().status == 200)
  }

  @Test("in parallel neither locks the owner out nor reveals whether an account exists")
  func parallelGuesses() async throws {
    let server = try await IdentityServer.start {
      $0.attemptsPerAccount = 2
      $0.accountDelay = 100
    }
    _ = try await server.signUp()
    for email in [IdentityServer.ada.email, "nobody@example.com"] {
      for _ in 0..<2 { #expect(try await server.signIn(email, "wrong password").code == wrong) }
      let codes = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<6 {
          group.addTask { try await server.signIn(email, "wrong password").code }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.allSatisfy { $0 == wrong }, "\(codes)")
    }
    #expect(try await server.signIn().status == 200)
  }
}
