import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Limits of the identity endpoints", .timeLimit(.minutes(3)))
struct IdentityLimitTests {
  @Test("An address that guesses at many accounts is slowed down; the right password still works")
  func guessingAccounts() async throws {
    let server = try await IdentityServer.start {
      $0.attemptsPerClient = 6
      $0.clientPause = 10_000
      $0.accountDelay = 1
    }
    _ = try await server.signUp()
    for number in 0..<5 {
      #expect(
        try await server.signIn("user\(number)@example.com").code == "INVALID_LOGIN_CREDENTIALS"
      )
    }
    #expect(try await server.signIn("user9@example.com").code == "INVALID_LOGIN_CREDENTIALS")
    #expect(try await server.signIn().status == 200)
    #expect(try await server.post("signUp").code == "TOO_MANY_ATTEMPTS_TRY_LATER")
    #expect(
      try await server.post("resetPassword", ["oobCode": .string("x")]).code
        == "TOO_MANY_ATTEMPTS_TRY_LATER"
    )
    server.advance(seconds: 10)
    #expect(try await server.post("signUp").status == 200)
    await server.server.stop()
  }

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
    await server.server.stop()
  }

  /// A request that is refused, with the expected status and code.
  struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let method: String
    let body: String
    let type: String
    let status: Int
    let code: String

    init(
      _ description: String,
      _ body: String,
      _ code: String,
      method: String = "signUp",
      type: String = "application/json",
      status: Int = 400
    ) {
      testDescription = description
      self.method = method
      self.body = body
      self.type = type
      self.status = status
      self.code = code
    }
  }

  static let malformed: [Malformed] = [
    Malformed("no JSON", "{", "INVALID_ARGUMENT"),
    Malformed("an array", "[]", "INVALID_ARGUMENT"),
    Malformed("bytes that are no text", "{\"email\":\"\u{0}\"}", "INVALID_ARGUMENT"),
    Malformed("nested deeply", String(repeating: "[", count: 5_000), "INVALID_ARGUMENT"),
    Malformed("a number as address", #"{"email":1,"password":"secret"}"#, "INVALID_ARGUMENT"),
    Malformed(
      "a list as password",
      #"{"email":"a@b.c","password":["secret"]}"#,
      "INVALID_ARGUMENT"
    ),
    Malformed(
      "an address twice",
      #"{"email":"a@b.c","email":"d@e.f","password":"secret"}"#,
      "INVALID_ARGUMENT"
    ),
    Malformed(
      "a name twice, once with an escape",
      #"{"email":"a@b.c","\u0065mail":"d@e.f","password":"secret"}"#,
      "INVALID_ARGUMENT"
    ),
    Malformed(
      "a terminator in a password",
      #"{"email":"a@b.c","password":"secret\u0000x"}"#,
      "INVALID_ARGUMENT"
    ),
    Malformed("another type", "{}", "INVALID_ARGUMENT", type: "text/plain"),
    Malformed(
      "a form",
      "email=a",
      "INVALID_ARGUMENT",
      type: "application/x-www-form-urlencoded"
    ),
    Malformed("no password", #"{"email":"a@b.c"}"#, "MISSING_PASSWORD"),
    Malformed("no address", #"{"password":"secret"}"#, "MISSING_EMAIL"),
    Malformed("a short password", #"{"email":"a@b.c","password":"12345"}"#, "WEAK_PASSWORD"),
    Malformed(
      "a long password",
      #"{"email":"a@b.c","password":"\#(String(repeating: "x", count: 4_097))"}"#,
      "INVALID_PASSWORD"
    ),
    Malformed("no address at sign-in", "{}", "MISSING_EMAIL", method: "signInWithPassword"),
    Malformed(
      "no password at sign-in",
      #"{"email":"a@b.c"}"#,
      "MISSING_PASSWORD",
      method: "signInWithPassword"
    ),
    Malformed("no token", "{}", "INVALID_ID_TOKEN", method: "lookup"),
    Malformed("no custom token", "{}", "MISSING_CUSTOM_TOKEN", method: "signInWithCustomToken"),
    Malformed("no kind of code", "{}", "MISSING_REQ_TYPE", method: "sendOobCode"),
    Malformed(
      "a link by mail",
      #"{"requestType":"EMAIL_SIGNIN","email":"a@b.c"}"#,
      "OPERATION_NOT_ALLOWED",
      method: "sendOobCode"
    ),
    Malformed("no code", "{}", "MISSING_OOB_CODE", method: "resetPassword"),
    Malformed("a wrong code", #"{"oobCode":"x"}"#, "INVALID_OOB_CODE", method: "resetPassword"),
    Malformed("a method that is none", "{}", "NOT_FOUND", method: "steal", status: 404),
    Malformed(
      "a megabyte",
      #"{"email":"\#(String(repeating: "x", count: 1_000_000))"}"#,
      "REQUEST_TOO_LARGE",
      status: 413
    ),
  ]

  @Test("A malformed request is refused with its error code", arguments: malformed)
  func refused(request: Malformed) async throws {
    let server = try await IdentityServer.start()
    let answer = try await server.request(
      "POST",
      "/v1/accounts:\(request.method)",
      request.body,
      lines: ["Content-Type: \(request.type)"]
    )
    #expect(answer.status == request.status)
    #expect(answer.code == request.code)
    #expect(answer.json["error"]?["code"]?.integer == Int64(request.status))
    let first = answer.json["error"]?["errors"]?.elements?.first
    #expect(first?["message"] == answer.json["error"]?["message"])
    #expect(first?["domain"]?.string == "global")
    await server.server.stop()
  }

  @Test(
    "An invalid token request is refused with its error code",
    arguments: [
      ("", "MISSING_GRANT_TYPE"), ("grant_type=password", "INVALID_GRANT_TYPE"),
      ("grant_type=refresh_token", "MISSING_REFRESH_TOKEN"),
      ("grant_type=refresh_token&refresh_token=x", "INVALID_REFRESH_TOKEN"),
      (
        "grant_type=refresh_token&refresh_token=" + String(repeating: "A", count: 43),
        "INVALID_REFRESH_TOKEN"
      ),
      ("grant_type=refresh_token&grant_type=password", "INVALID_ARGUMENT"),
      ("grant_type=%zz", "INVALID_ARGUMENT"),
    ]
  )
  func tokenRequests(body: String, code: String) async throws {
    let server = try await IdentityServer.start()
    let answer = try await server.request(
      "POST",
      "/v1/token",
      body,
      lines: ["Content-Type: application/x-www-form-urlencoded"]
    )
    #expect(answer.status == 400)
    #expect(answer.code == code)
    await server.server.stop()
  }

  @Test("Other methods and origins are refused")
  func methodsAndOrigins() async throws {
    let server = try await IdentityServer.start()
    let read = try await server.request("GET", "/v1/accounts:signUp")
    #expect(read.status == 405)
    #expect(read.lines["allow"] == "POST, OPTIONS")
    let page = ["Origin: http://evil.example", "Content-Type: application/json"]
    #expect(
      try await server.request("POST", "/v1/accounts:signUp", "{}", lines: page).status == 403
    )
    #expect(try await server.request("OPTIONS", "/v1/accounts:signUp").status == 200)
    await server.server.stop()
  }

  @Test("Passwords, tokens, codes and addresses never appear in the log")
  func log() async throws {
    let lines = NIOLockedValueBox<[String]>([])
    let logger = Logger(label: "test") { _ in CollectingLog(lines: lines) }
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
