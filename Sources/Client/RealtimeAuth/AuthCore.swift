/// Keeps a user signed in: decides when tokens are refreshed, and what follows from the answer.
///
/// Pure: the time comes in with each input, and what is to be done comes out.
///
/// States: nobody → signed in ⇄ refreshing (one refresh at a time) → nobody. While tokens must stay
/// fresh, a failed refresh is tried again after growing pauses.
struct AuthCore: Sendable {
  private(set) var account: Account?
  /// The refresh that is under way, if any.
  private var refresh: Refresh?
  private var lastRefresh = 0
  private var failures = 0
  /// Whether tokens are refreshed before anyone asks for them.
  private var staysFresh = false
  private var outputs: [AuthOutput] = []

  private struct Refresh {
    let number: Int
    /// The requests that wait for the new token, and whether the old one would not do for them.
    var waiting: [(request: Int, isForced: Bool)] = []
  }

  /// The pauses between attempts to refresh, in milliseconds.
  private static let firstPause: Int64 = 250
  private static let longestPause: Int64 = 30_000

  /// Makes a session of nobody, or of a user who was signed in before.
  init(account: Account? = nil) {
    self.account = account
  }

  /// Takes an input and returns what is to be done, in order.
  ///
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: The wall clock in milliseconds since 1970.
  ///   - random: A number from 0 to 1, which spreads attempts.
  /// - Returns: The outputs, to be performed one after another.
  mutating func handle(_ input: AuthInput, now: Int64, random: Double) -> [AuthOutput] {
    outputs = []
    switch input {
    case .signedIn(let account): signedIn(account, now: now)
    case .signedOut: signedOut(.signedOut)
    case .profileChanged(let uid, let profile): profileChanged(profile, of: uid)
    case .tokenWanted(let request, let isForced): tokenWanted(request, isForced: isForced, now: now)
    case .refreshed(let number, let result):
      refreshed(number, with: result, now: now, random: random)
    case .timerFired: timerFired(now: now)
    case .staysFresh(let isOn):
      staysFresh = isOn
      schedule(now: now)
    }
    defer { outputs = [] }
    return outputs
  }

  private mutating func signedIn(_ account: Account, now: Int64) {
    let earlier = self.account
    endRefresh(earlier?.uid == account.uid ? .success(account) : .failure(.otherUser))
    self.account = account
    failures = 0
    outputs.append(.save(account, isNew: true))
    if earlier?.uid != account.uid || earlier?.profile != account.profile {
      outputs.append(.userChanged(isOther: earlier?.uid != account.uid))
    }
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
    outputs.append(.userChanged(isOther: true))
    outputs.append(.tokenChanged(nil))
  }

  private mutating func profileChanged(_ profile: Account.Profile, of uid: String) {
    guard var account, account.uid == uid, account.profile != profile else { return }
    account.profile = profile
    self.account = account
    outputs.append(.save(account, isNew: false))
    outputs.append(.userChanged(isOther: false))
  }

  private mutating func tokenWanted(_ request: Int, isForced: Bool, now: Int64) {
    guard let account else { return outputs.append(.token(request, .success(nil))) }
    if !isForced, now < account.tokens.refreshTime {
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
    // A sign-in or sign-out in the meantime has made it pointless.
    guard let refresh, refresh.number == number, var account else { return }
    switch result {
    case .success(let tokens):
      self.refresh = nil
      failures = 0
      account.tokens = tokens
      self.account = account
      outputs.append(.save(account, isNew: false))
      outputs.append(.tokenChanged(account))
      for (request, _) in refresh.waiting { outputs.append(.token(request, .success(account))) }
      schedule(now: now)
    case .failure(let error) where error.endsSession: signedOut(error)
    case .failure(let error):
      self.refresh = nil
      // The old token is good until it expires, unless the server rejected it.
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
    if failures > 0 || now >= account.tokens.refreshTime {
      startRefresh()
    } else {
      schedule(now: now)
    }
  }

  /// Schedules the next refresh.
  private mutating func schedule(now: Int64) {
    guard staysFresh, let account, refresh == nil else { return }
    outputs.append(.schedule(after: max(0, account.tokens.refreshTime - now)))
  }
}

/// Something that happened, which a session has to deal with.
enum AuthInput: Sendable {
  /// A user signed in, or received new tokens other than by a refresh.
  case signedIn(Account)
  /// The user signs out.
  case signedOut
  /// More is known of the user.
  case profileChanged(uid: String, Account.Profile)
  /// A caller asks for a token; if forced, it must differ from the last one.
  case tokenWanted(Int, isForced: Bool)
  /// A refresh was answered.
  case refreshed(Int, Result<Account.Tokens, AuthError>)
  /// The timer came due.
  case timerFired
  /// Tokens must be refreshed before anyone asks for them, or need no longer be.
  case staysFresh(Bool)
}

/// Something that a session wants done; the caller performs the outputs in order.
enum AuthOutput: Sendable {
  /// Get new tokens for an account, and feed back the answer under this number.
  case refresh(Int, Account)
  /// Start the timer of so many milliseconds; replaces it if it is running.
  case schedule(after: Int64)
  /// Cancel the timer.
  case cancelTimer
  /// Answer a caller who asked for a token; nil means that nobody is signed in.
  case token(Int, Result<Account?, AuthError>)
  /// Another user is signed in, or nobody, or the profile changed.
  case userChanged(isOther: Bool)
  /// There is a new token, or nobody is signed in any more.
  case tokenChanged(Account?)
  /// Keep these credentials; they are new if the user has just signed in.
  ///
  /// Otherwise they are kept only if no other process has removed the account.
  case save(Account, isNew: Bool)
  /// Forget the credentials of an account.
  case remove(Account)
}
