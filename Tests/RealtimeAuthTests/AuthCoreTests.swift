import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeAuth

@Suite("AuthCore")
struct AuthCoreTests {
  @Test("Tokens are refreshed as it is written", arguments: Transcript.all(in: "Tokens"))
  func asWritten(_ session: Transcript) throws {
    try session.expect(with: AuthPlayer.self)
  }

  @Test(
    "A token's claims may name any time",
    arguments: [
      (#"{"iat":0,"exp":9223372036854775807}"#, 1_000_000_000_000),
      (#"{"iat":-9223372036854775808,"exp":9223372036854775807}"#, 3_600_000),
      (#"{"iat":5,"exp":-1}"#, 3_600_000), (#"{"iat":5,"exp":65}"#, 60_000),
    ]
  )
  func claims(_ claims: String, lifetime: Int64) throws {
    let token = "e30.\(Data(claims.utf8).base64EncodedString()).s"
    let answer = JSONValue.object(("idToken", .string(token)), ("refreshToken", .string("r")))
    let tokens = try #require(Account.Tokens(account: answer, now: 1_000))
    #expect(tokens.lifetime == lifetime)
    #expect(tokens.expires == 1_000 + lifetime)
  }

  @Test("Claims can be cast to every type that suits them")
  func claimTypes() throws {
    let claims = #"{"level":3,"admin":true,"roles":[1],"rates":{"n":0.5}}"#
    let token = "e30.\(Data(claims.utf8).base64EncodedString()).s"
    let result = try AuthTokenResult(token).claims
    #expect(result["level"] as? Int == 3)
    #expect(result["level"] as? Double == 3)
    #expect(result["admin"] as? Bool == true)
    #expect(result["roles"] as? [Int] == [1])
    #expect(result["rates"] as? [String: Double] == ["n": 0.5])
  }

  @Test("Descriptions never reveal tokens")
  func secrets() {
    let tokens = Account.Tokens(idToken: "s3cret", refreshToken: "s3cret", expires: 1, lifetime: 1)
    let account = Account(uid: "ann", tokens: tokens)
    #expect(!"\(account) \(String(reflecting: tokens))".contains("s3cret"))
  }
}

/// Plays the lines of a ``Transcript`` to a session, at a clock that only the lines move.
///
///     user NAME [SECONDS]          who is signed in at the start, with a token of that lifetime
///     in NAME TOKEN [SECONDS], out, ended NAME     sign-in, sign-out, the end of an account
///     changed NAME TOKEN           new tokens other than by a refresh
///     want NUMBER [forced]         a caller requests a token
///     refreshed NUMBER TOKEN [SECONDS], failed NUMBER CODE     what has become of a refresh
///     fresh                        tokens must stay fresh; the timer fires with fire
///     wait SECONDS                 time passes, or is set back
private struct AuthPlayer: TranscriptPlayer {
  private var core: AuthCore
  private var now: Int64 = 1_000_000

  static func isStart(_ line: String) -> Bool { line.hasPrefix("user ") }

  init(_ lines: [String]) {
    core = AuthCore()
    guard let user = lines.first(where: Self.isStart)?.split(separator: " ") else { return }
    core = AuthCore(account: account(user[1], token: "1", seconds: user.dropFirst(2).first))
  }

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let words = line.split(separator: " ")
    if words.count == 2, words[0] == "wait", let seconds = Int64(words[1]) {
      now += seconds * 1_000
      return Transcript.Outcome()
    }
    guard let input = input(words) else { throw Transcript.UnknownLine(text: line) }
    let told = core.handle(input, now: now, random: 0.5).map(Self.text)
    return Transcript.Outcome(answer: told.isEmpty ? nil : told.joined(separator: ", "))
  }

  private func input(_ words: [Substring]) -> AuthInput? {
    switch (words[0], words.count) {
    case ("in", 3...4):
      .signedIn(account(words[1], token: words[2], seconds: words.dropFirst(3).first))
    case ("out", 1): .signedOut
    case ("ended", 2): .accountEnded(uid: String(words[1]))
    case ("changed", 3): .tokensChanged(account(words[1], token: words[2]))
    case ("want", 2...3): Int(words[1]).map { .tokenWanted($0, isForced: words.last == "forced") }
    case ("refreshed", 3...4):
      Int(words[1]).map {
        .refreshed($0, .success(tokens(words[2], seconds: words.dropFirst(3).first)))
      }
    case ("failed", 3):
      AuthErrorCode.allCases.first { "\($0)" == words[2] }.flatMap { code in
        Int(words[1]).map { .refreshed($0, .failure(AuthError(code, message: ""))) }
      }
    case ("fresh", 1): .staysFresh(true)
    case ("fire", 1): .timerFired
    default: nil
    }
  }

  private func account(_ uid: Substring, token: Substring, seconds: Substring? = nil) -> Account {
    Account(uid: String(uid), tokens: tokens(token, seconds: seconds))
  }

  private func tokens(_ idToken: Substring, seconds: Substring?) -> Account.Tokens {
    let lifetime = 1_000 * (seconds.flatMap { Int64($0) } ?? 3_600)
    return Account.Tokens(
      idToken: String(idToken),
      refreshToken: "refresh",
      expires: now + lifetime,
      lifetime: lifetime
    )
  }

  private static func text(_ output: AuthOutput) -> String {
    switch output {
    case .refresh(let number, let account): "refresh \(number) \(account.uid)"
    case .schedule(let after): "schedule \(after)"
    case .cancelTimer: "cancel"
    case .token(let number, .success(let account)):
      "token \(number) \(account?.tokens.idToken ?? "-")"
    case .token(let number, .failure(let error)):
      "token \(number) \(error.kind)\(error.isTemporary ? " (temporary)" : "")"
    case .userChanged: "other user"
    case .tokenChanged(let account): "new token \(account?.tokens.idToken ?? "-")"
    case .save(let account, let isNew): "save \(account.uid) \(isNew)"
    case .remove(let account): "remove \(account.uid)"
    }
  }
}
