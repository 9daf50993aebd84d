/// Keeps a user signed in: decides when to refresh tokens, and what follows from the response.
///
/// Pure: the time comes with each input; the work to do is returned as outputs.
///
/// States: signed out → signed in ⇄ refreshing (one refresh at a time) → signed out. While tokens
/// must stay fresh, a failed refresh is retried after growing pauses.
struct AuthCore: Sendable {
  private(set) var account: Account?
  /// The refresh under way, if any.
  private var refresh: Refresh?
  private var lastRefresh = 0
  private var failures = 0
  /// Whether tokens are refreshed before a caller requests them.
  private var staysFresh = false
  private var outputs: [AuthOutput] = []

  private struct Refresh {
    let number: Int
    /// The requests that wait for the new token, and whether they insist on a new one.
    var waiting: [(request: Int, isForced: Bool)] = []
  }

  /// The pauses between attempts to refresh, in milliseconds.
  private static let firstPause: Int64 = 250
  private static let longestPause: Int64 = 30_000

  /// Makes a session that is signed out, or that continues with a stored user.
  init(account: Account? = nil) {
    self.account = account
  }

  /// Handles an input and returns the resulting outputs, to be performed in order.
  ///
  /// The time is in milliseconds since 1970. The random number, from 0 through 1, spreads retries.
  mutating func handle(_ input: AuthInput, now: Int64, random: Double) -> [AuthOutput] {
    outputs = []
    switch input {
    case .signedIn(let account): signedIn(account, isNew: true, now: now)
    case .tokensChanged(let account):
      if self.account?.uid == account.uid { signedIn(account, isNew: false, now: now) }
    case .signedOut: signedOut(.signedOut)
    case .accountEnded(let uid): if account?.uid == uid { signedOut(.signedOut) }
    case .profileChanged(let uid, let profile): profileChanged(profile, of: uid)
    case .tokenWanted(let request, let isForced): tokenWanted(request, isForced: isForced, now: now)
    case .refreshed(let number, let result):
      refreshed(number, with: result, now: now, random: random)
    case .timerFired: timerFired(now: now)
    case .staysFresh(let isOn):
      // A refresh is scheduled already, perhaps after a failure.
      if isOn == staysFresh { break }
      staysFresh = isOn
      schedule(now: now)
    }
    defer { outputs = [] }
    return outputs
  }

  private mutating func signedIn(_ account: Account, isNew: Bool, now: Int64) {
    let earlier = self.account
    endRefresh(earlier?.uid == account.uid ? .success(account) : .failure(.otherUser))
    self.account = account
    failures = 0
    outputs.append(.save(account, isNew: isNew))
    if earlier?.uid != account.uid { outputs.append(.userChanged) }
    outputs.append(.tokenChanged(account))
    schedule(now: now)
  }

  private mutating func signedOut(_ reason: AuthError) {
    endRefresh(.failure(reason))
    guard let account else { return }
    self.account = nil
    failures = 0
    outputs.append(.cancelTimer)
    outputs.append(.remove(account))
    outputs.append(.userChanged)
    outputs.append(.tokenChanged(nil))
  }

  private mutating func profileChanged(_ profile: Account.Profile, of uid: String) {
    guard var account, account.uid == uid, account.profile != profile else { return }
    account.profile = profile
    self.account = account
    outputs.append(.save(account, isNew: false))
  }

  private mutating func tokenWanted(_ request: Int, isForced: Bool, now: Int64) {
    guard let account else { return outputs.append(.token(request, .success(nil))) }
    if !isForced, account.tokens.isFresh(at: now) {
      return outputs.append(.token(request, .success(account)))
    }
    startRefresh()
    refresh?.waiting.append((request, isForced))
  }

  private mutating func startRefresh() {
    guard refresh == nil, let account else { return }
    lastRefresh += 1
    refresh = Refresh(number: lastRefresh)
    outputs.append(.refresh(lastRefresh, account))
  }

  private mutating func endRefresh(_ result: Result<Account?, AuthError>) {
    for (request, _) in refresh?.waiting ?? [] { outputs.append(.token(request, result)) }
    refresh = nil
  }

  private mutating func refreshed(
    _ number: Int,
    with result: Result<Account.Tokens, AuthError>,
    now: Int64,
    random: Double
  ) {
    // A sign-in or sign-out in the meantime has made the result irrelevant.
    guard let refresh, refresh.number == number, var account else { return }
    switch result {
    case .success(let tokens):
      failures = 0
      account.tokens = tokens
      self.account = account
      outputs.append(.save(account, isNew: false))
      outputs.append(.tokenChanged(account))
      endRefresh(.success(account))
      schedule(now: now)
    case .failure(let error) where error.endsSession: signedOut(error)
    case .failure(let error):
      self.refresh = nil
      // The old token is usable until it expires, unless the server has rejected it.
      for (request, isForced) in refresh.waiting {
        let isUsable = !isForced && now < account.tokens.expires
        outputs.append(.token(request, isUsable ? .success(account) : .failure(error)))
      }
      failures += 1
      guard staysFresh else { return }
      outputs.append(.schedule(after: pause(random)))
    }
  }

  private func pause(_ random: Double) -> Int64 {
    let doubled = Self.firstPause << Int64(min(failures - 1, 16))
    let longest = min(doubled, Self.longestPause)
    return longest / 2 + Int64(Double(longest / 2) * random)
  }

  private mutating func timerFired(now: Int64) {
    guard staysFresh, let account else { return }
    if failures > 0 || !account.tokens.isFresh(at: now) {
      startRefresh()
    } else {
      schedule(now: now)
    }
  }

  /// Schedules the next refresh.
  private mutating func schedule(now: Int64) {
    guard staysFresh, let account, refresh == nil else { return }
    let isFresh = account.tokens.isFresh(at: now)
    outputs.append(.schedule(after: isFresh ? account.tokens.refreshTime - now : 0))
  }
}

enum AuthInput: Sendable {
  case signedIn(Account)
  /// A user received new tokens other than by a refresh; ignored unless that user is signed in.
  case tokensChanged(Account)
  case signedOut
  /// An account was deleted or disabled; ignored unless its user is signed in.
  case accountEnded(uid: String)
  /// The user's profile was loaded or changed.
  case profileChanged(uid: String, Account.Profile)
  /// A caller requests a token; if forced, it must differ from the last one.
  case tokenWanted(Int, isForced: Bool)
  case refreshed(Int, Result<Account.Tokens, AuthError>)
  case timerFired
  /// Whether tokens must be refreshed before a caller requests them.
  case staysFresh(Bool)
}

/// Work that the session requests; the caller performs the outputs in order.
enum AuthOutput: Sendable {
  /// Get new tokens for an account, and feed the response back under this number.
  case refresh(Int, Account)
  /// Start the timer with this many milliseconds, replacing a running one.
  case schedule(after: Int64)
  case cancelTimer
  /// Answer a caller's token request; nil means that no user is signed in.
  case token(Int, Result<Account?, AuthError>)
  /// Another user or no user is signed in.
  case userChanged
  /// There is a new token, or no user is signed in any more.
  case tokenChanged(Account?)
  /// Store these credentials; they are new if the user has just signed in.
  ///
  /// Otherwise they are stored only if no other process has removed the account.
  case save(Account, isNew: Bool)
  case remove(Account)
}
