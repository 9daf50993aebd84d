import Foundation
import RealtimeCore
import Testing

@testable import RealtimeAuth

@Suite("AuthCore")
struct AuthCoreTests {
  /// A session with a clock that a test sets.
  private struct Driver {
    var core: AuthCore
    var now: Int64 = 1_000_000

    init(_ account: Account? = nil) {
      core = AuthCore(account: account)
    }

    mutating func feed(
      _ input: AuthInput,
      gives expected: [String],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let texts = feed(input)
      #expect(texts == expected, sourceLocation: sourceLocation)
    }

    /// Feeds an input, and returns its outputs as short text.
    @discardableResult
    mutating func feed(_ input: AuthInput) -> [String] {
      core.handle(input, now: now, random: 0.5).map {
        switch $0 {
        case .refresh(let number, let account): "refresh \(number) \(account.uid)"
        case .schedule(let after): "schedule \(after)"
        case .cancelTimer: "cancel"
        case .token(let number, .success(let account)):
          "token \(number) \(account?.tokens.idToken ?? "-")"
        case .token(let number, .failure(let error)): "token \(number) \(error.kind)"
        case .userChanged(let isOther): isOther ? "other user" : "same user"
        case .tokenChanged(let account): "new token \(account?.tokens.idToken ?? "-")"
        case .save(let account, let isNew): "save \(account.uid) \(isNew)"
        case .remove(let account): "remove \(account.uid)"
        }
      }
    }
  }

  private func tokens(_ idToken: String, at now: Int64, seconds: Int64 = 3_600) -> Account.Tokens {
    Account.Tokens(
      idToken: idToken,
      refreshToken: "refresh",
      expires: now + seconds * 1_000,
      lifetime: seconds * 1_000
    )
  }

  private func ann(at now: Int64 = 1_000_000, seconds: Int64 = 3_600) -> Account {
    Account(uid: "ann", tokens: tokens("1", at: now, seconds: seconds))
  }

  private let offline = AuthError(.networkError, message: "no network")

  @Test("Sign-in saves the account and notifies listeners before it schedules a refresh")
  func signIn() {
    var driver = Driver()
    driver.feed(.staysFresh(true), gives: [])
    driver.feed(
      .signedIn(ann()),
      gives: ["save ann true", "other user", "new token 1", "schedule 3300000"]
    )
  }

  @Test("A token request that fails because the user changes meanwhile may be repeated")
  func interrupted() {
    let bob = Account(uid: "bob", tokens: tokens("2", at: 1_000_000))
    for change in [AuthInput.signedOut, .signedIn(bob)] {
      var core = AuthCore(account: ann())
      _ = core.handle(.tokenWanted(1, isForced: true), now: 1_000_000, random: 0.5)
      let failures = core.handle(change, now: 1_000_000, random: 0.5).compactMap { output in
        if case .token(1, .failure(let error)) = output { error.isTemporary } else { nil }
      }
      #expect(failures == [true])
    }
  }

  @Test(
    "A token is refreshed five minutes before it expires, a short-lived one at half its lifetime",
    arguments: [(3_600, 3_300_000), (700, 400_000), (500, 250_000), (60, 30_000), (2, 1_000)]
  )
  func margin(_ seconds: Int64, _ pause: Int64) {
    var driver = Driver(ann(seconds: seconds))
    driver.feed(.staysFresh(true), gives: ["schedule \(pause)"])
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

  @Test("A token that nobody needs is not refreshed")
  func lazy() {
    var driver = Driver(ann())
    driver.now += 4_000_000
    driver.feed(.timerFired, gives: [])
  }

  @Test("A token that is still fresh is returned at once")
  func freshToken() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: false), gives: ["token 1 1"])
  }

  @Test("A token from a time that the clock was set back from is refreshed")
  func clockSetBack() {
    var driver = Driver(ann())
    driver.now -= 7_200_000
    driver.feed(.staysFresh(true), gives: ["schedule 0"])
    driver.feed(.tokenWanted(1, isForced: false), gives: ["refresh 1 ann"])
    driver.feed(
      .refreshed(1, .success(tokens("2", at: driver.now))),
      gives: ["save ann false", "new token 2", "token 1 2", "schedule 3300000"]
    )
  }

  @Test("All callers during a refresh get its result")
  func oneRefresh() {
    var driver = Driver(ann())
    driver.now += 3_500_000
    driver.feed(.tokenWanted(1, isForced: false), gives: ["refresh 1 ann"])
    driver.feed(.tokenWanted(2, isForced: true), gives: [])
    driver.feed(.timerFired, gives: [])
    driver.feed(
      .refreshed(1, .success(tokens("2", at: driver.now))),
      gives: ["save ann false", "new token 2", "token 1 2", "token 2 2"]
    )
  }

  @Test("Offline, the old token is used until it expires, except where a refresh is forced")
  func failedRefresh() {
    var driver = Driver(ann())
    driver.now += 3_500_000
    driver.feed(.tokenWanted(1, isForced: false))
    driver.feed(.tokenWanted(2, isForced: true))
    driver.feed(.refreshed(1, .failure(offline)), gives: ["token 1 1", "token 2 networkError"])
    driver.now += 200_000
    driver.feed(.tokenWanted(3, isForced: false), gives: ["refresh 2 ann"])
    driver.feed(.refreshed(2, .failure(offline)), gives: ["token 3 networkError"])
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

  @Test("Another observer of tokens does not cut the pause after a failed refresh short")
  func anotherObserver() {
    var driver = Driver(ann(seconds: 2))
    driver.feed(.staysFresh(true))
    driver.now += 1_000
    driver.feed(.timerFired)
    driver.feed(.refreshed(1, .failure(offline)), gives: ["schedule 187"])
    driver.feed(.staysFresh(true), gives: [])
  }

  @Test("Failed refreshes are retried with a backoff of up to half a minute")
  func pauses() {
    var driver = Driver(ann(seconds: 2))
    driver.feed(.staysFresh(true))
    driver.now += 1_000
    var pauses: [String] = []
    for number in 1...10 {
      driver.feed(.timerFired)
      pauses += driver.feed(.refreshed(number, .failure(offline)))
    }
    #expect(pauses.prefix(3) == ["schedule 187", "schedule 375", "schedule 750"])
    #expect(pauses.suffix(2) == ["schedule 22500", "schedule 22500"])
    driver.feed(.timerFired)
    driver.feed(
      .refreshed(11, .success(tokens("2", at: driver.now, seconds: 2))),
      gives: ["save ann false", "new token 2", "schedule 1000"]
    )
  }

  @Test(
    "A session that the server has revoked is signed out",
    arguments: [AuthErrorCode.userDisabled, .userNotFound, .userTokenExpired, .invalidUserToken]
  )
  func ended(_ code: AuthErrorCode) {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.feed(
      .refreshed(1, .failure(AuthError(code, message: ""))),
      gives: ["token 1 \(code)", "cancel", "remove ann", "other user", "new token -"]
    )
    #expect(driver.core.account == nil)
  }

  @Test("A refresh response that arrives after sign-out is ignored")
  func lateAnswer() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.feed(.signedOut)
    driver.feed(.refreshed(1, .success(tokens("2", at: driver.now))), gives: [])
  }

  @Test("A pending token request fails when another user signs in")
  func otherUser() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.feed(
      .signedIn(Account(uid: "bob", tokens: tokens("b", at: driver.now))),
      gives: ["token 1 nullUser", "save bob true", "other user", "new token b"]
    )
  }

  @Test("New tokens and the end of an account concern only the user who is signed in")
  func stillSignedIn() {
    let bob = Account(uid: "bob", tokens: tokens("b", at: 1_000_000))
    var driver = Driver()
    driver.feed(.tokensChanged(ann()), gives: [])
    driver.feed(.signedIn(bob))
    driver.feed(.tokensChanged(ann()), gives: [])
    driver.feed(.accountEnded(uid: "ann"), gives: [])
    driver.feed(.tokensChanged(bob), gives: ["save bob false", "new token b"])
    driver.feed(.accountEnded(uid: "bob"))
    #expect(driver.core.account == nil)
  }

  @Test("A token request returns nil when nobody is signed in")
  func nobody() {
    var driver = Driver()
    driver.feed(.tokenWanted(1, isForced: true), gives: ["token 1 -"])
    driver.feed(.signedOut, gives: [])
  }

  @Test("Descriptions never reveal tokens")
  func secrets() {
    let text = "\(ann()) \(String(reflecting: ann().tokens))"
    #expect(!text.contains("refresh\""))
    #expect(!text.contains("idToken"))
  }
}
