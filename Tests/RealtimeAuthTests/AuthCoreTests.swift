import Testing

@testable import RealtimeAuth

@Suite("AuthCore")
struct AuthCoreTests {
  /// Drives a session by hand.
  private struct Driver {
    var core: AuthCore
    var now: Int64 = 1_000_000
    var outputs: [AuthOutput] = []

    init(_ account: Account? = nil) {
      core = AuthCore(account: account)
    }

    mutating func feed(_ input: AuthInput) {
      outputs += core.handle(input, now: now, random: 0.5)
    }

    mutating func forget() {
      outputs = []
    }

    /// The outputs as short text.
    var texts: [String] {
      outputs.map {
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
    driver.feed(.staysFresh(true))
    driver.feed(.signedIn(ann()))
    #expect(driver.texts == ["save ann true", "other user", "new token 1", "schedule 3300000"])
  }

  @Test("A token is refreshed five minutes before it expires", arguments: [3_600, 700])
  func margin(_ seconds: Int64) {
    var driver = Driver(ann(seconds: seconds))
    driver.feed(.staysFresh(true))
    #expect(driver.texts == ["schedule \((seconds - 300) * 1_000)"])
  }

  @Test("A short-lived token is refreshed at half its lifetime", arguments: [2, 60, 500])
  func halfLife(_ seconds: Int64) {
    var driver = Driver(ann(seconds: seconds))
    driver.feed(.staysFresh(true))
    #expect(driver.texts == ["schedule \(seconds * 500)"])
  }

  @Test("A token that nobody needs is not refreshed")
  func lazy() {
    var driver = Driver(ann())
    driver.now += 4_000_000
    driver.feed(.timerFired)
    #expect(driver.texts.isEmpty)
  }

  @Test("A token that is still fresh is returned at once")
  func freshToken() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: false))
    #expect(driver.texts == ["token 1 1"])
  }

  @Test("All callers during a refresh get its result")
  func oneRefresh() {
    var driver = Driver(ann())
    driver.now += 3_500_000
    driver.feed(.tokenWanted(1, isForced: false))
    driver.feed(.tokenWanted(2, isForced: true))
    driver.feed(.timerFired)
    #expect(driver.texts == ["refresh 1 ann"])
    driver.forget()
    driver.feed(.refreshed(1, .success(tokens("2", at: driver.now))))
    #expect(driver.texts == ["save ann false", "new token 2", "token 1 2", "token 2 2"])
  }

  @Test("Offline, the old token is used until it expires, except where a refresh is forced")
  func failedRefresh() {
    var driver = Driver(ann())
    driver.now += 3_500_000
    driver.feed(.tokenWanted(1, isForced: false))
    driver.feed(.tokenWanted(2, isForced: true))
    driver.forget()
    driver.feed(.refreshed(1, .failure(offline)))
    #expect(driver.texts == ["token 1 1", "token 2 networkError"])
    driver.forget()
    driver.now += 200_000
    driver.feed(.tokenWanted(3, isForced: false))
    driver.feed(.refreshed(2, .failure(offline)))
    #expect(driver.texts == ["refresh 2 ann", "token 3 networkError"])
  }

  @Test("Failed refreshes are retried with a backoff of up to half a minute")
  func pauses() {
    var driver = Driver(ann(seconds: 2))
    driver.feed(.staysFresh(true))
    driver.now += 1_000
    var pauses: [String] = []
    for number in 1...10 {
      driver.feed(.timerFired)
      driver.forget()
      driver.feed(.refreshed(number, .failure(offline)))
      pauses += driver.texts
    }
    #expect(pauses.prefix(3) == ["schedule 187", "schedule 375", "schedule 750"])
    #expect(pauses.suffix(2) == ["schedule 22500", "schedule 22500"])
    driver.feed(.timerFired)
    driver.forget()
    driver.feed(.refreshed(11, .success(tokens("2", at: driver.now, seconds: 2))))
    #expect(driver.texts == ["save ann false", "new token 2", "schedule 1000"])
  }

  @Test(
    "A session that the server has revoked is signed out",
    arguments: [AuthErrorCode.userDisabled, .userNotFound, .userTokenExpired, .invalidUserToken]
  )
  func ended(_ code: AuthErrorCode) {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.forget()
    driver.feed(.refreshed(1, .failure(AuthError(code, message: ""))))
    #expect(
      driver.texts == ["token 1 \(code)", "cancel", "remove ann", "other user", "new token -"]
    )
    #expect(driver.core.account == nil)
  }

  @Test("A refresh response that arrives after sign-out is ignored")
  func lateAnswer() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.feed(.signedOut)
    driver.forget()
    driver.feed(.refreshed(1, .success(tokens("2", at: driver.now))))
    #expect(driver.texts.isEmpty)
  }

  @Test("A pending token request fails when another user signs in")
  func otherUser() {
    var driver = Driver(ann())
    driver.feed(.tokenWanted(1, isForced: true))
    driver.forget()
    driver.feed(.signedIn(Account(uid: "bob", tokens: tokens("b", at: driver.now))))
    #expect(driver.texts == ["token 1 nullUser", "save bob true", "other user", "new token b"])
  }

  @Test("New tokens and the end of an account concern only the user who is signed in")
  func stillSignedIn() {
    let bob = Account(uid: "bob", tokens: tokens("b", at: 1_000_000))
    var driver = Driver()
    driver.feed(.tokensChanged(ann()))
    #expect(driver.texts.isEmpty)
    driver.feed(.signedIn(bob))
    driver.forget()
    driver.feed(.tokensChanged(ann()))
    driver.feed(.accountEnded(uid: "ann"))
    #expect(driver.texts.isEmpty)
    driver.feed(.tokensChanged(bob))
    #expect(driver.texts == ["save bob false", "new token b"])
    driver.feed(.accountEnded(uid: "bob"))
    #expect(driver.core.account == nil)
  }

  @Test("A token request returns nil when nobody is signed in")
  func nobody() {
    var driver = Driver()
    driver.feed(.tokenWanted(1, isForced: true))
    driver.feed(.signedOut)
    #expect(driver.texts == ["token 1 -"])
  }

  @Test("Two-second tokens are refreshed once a second for ten minutes and never expire")
  func tenMinutes() {
    var driver = Driver(ann(seconds: 2))
    var refreshes = 0
    driver.feed(.staysFresh(true))
    let end = driver.now + 600_000
    while driver.now < end {
      guard case .schedule(let after)? = driver.outputs.last else { break }
      driver.now += after
      driver.forget()
      driver.feed(.timerFired)
      guard case .refresh(let number, let account)? = driver.outputs.last else { break }
      #expect(driver.now < account.tokens.expires)
      refreshes += 1
      // The response takes a while.
      driver.now += 100
      driver.feed(
        .refreshed(number, .success(tokens("\(refreshes)", at: driver.now - 100, seconds: 2)))
      )
    }
    #expect(refreshes == 600)
  }

  @Test("Descriptions never reveal tokens")
  func secrets() {
    let text = "\(ann()) \(String(reflecting: ann().tokens))"
    #expect(!text.contains("refresh\""))
    #expect(!text.contains("idToken"))
  }
}
