private import Dispatch
package import Logging
internal import NIOCore
internal import NIOPosix
internal import RealtimeCore

/// The accounts of a server's users: sign-up, sign-in, tokens, and account administration.
///
/// Isolation: the actor runs on a thread of its own, which may block on the store; passwords are
/// hashed on other threads. ``authority`` tells any thread which tokens are valid.
package final actor AccountService {
  nonisolated let eventLoop: any EventLoop
  nonisolated let settings: IdentitySettings
  nonisolated let authority: TokenAuthority
  nonisolated let logger: Logger
  /// The time in milliseconds since 1970.
  nonisolated let clock: @Sendable () -> Int64
  private nonisolated let group: MultiThreadedEventLoopGroup
  /// Called on the actor's thread when earlier tokens of a user are no longer valid, with the
  /// number of milliseconds after which the user's connections should be told.
  private nonisolated let onRevocation: @Sendable (TokenAuthority.Revocation, Int64) -> Void

  /// Called on the actor's thread when a write has failed and its outcome on disk is unknown.
  private nonisolated let onLoss: @Sendable (StoreError) -> Void

  private let store: any IdentityStore
  /// Whether the outcome of a write is unknown, so that nothing more may be written.
  private var isLost = false
  let passwords: PasswordThreads
  var accountAttempts: AttemptLimiter
  var clientAttempts: AttemptLimiter
  var waitingAttempts = WaitingAttempts()
  /// Resumes the waiting attempts with whether they may proceed.
  var waits: [Int: CheckedContinuation<Bool, Never>] = [:]
  private(set) var isClosed = false
  /// Mails that the emulator would have sent, oldest first.
  var mails: [EmulatorMail] = []
  private var lastTidying: Int64
  /// When changes by other servers were last read, in seconds since 1970.
  private var lastRefresh: Int64
  /// Whether changes by other servers could not be read when that was last tried.
  private var isBehind = false
  /// When it last turned out that the store cannot be used at the moment.
  private(set) var lastAbsence: ContinuousClock.Instant?
  /// Why the store could not be read or written when a request last did so.
  private var failures: [StoreUse: String] = [:]

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  /// Opens the accounts in a store, on the service's thread, and creates missing keys.
  ///
  /// Log events never contain passwords, tokens or codes. `onRevocation` is called when earlier
  /// tokens of a user are no longer valid, with the number of milliseconds after which the user's
  /// connections should be told; `onLoss` when a write has failed and its outcome on disk is
  /// unknown.
  package init(
    _ openStore: @escaping @Sendable () throws -> any IdentityStore,
    settings: IdentitySettings,
    clock: @escaping @Sendable () -> Int64,
    logger: Logger,
    onRevocation: @escaping @Sendable (TokenAuthority.Revocation, Int64) -> Void = { _, _ in },
    onLoss: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      (store, authority) = try await group.next().submit {
        let store = try openStore()
        do {
          let isShared = settings.refreshInterval != nil
          return (store, try Self.openAuthority(store, at: clock(), isShared: isShared))
        } catch {
          try? store.close()
          throw error
        }
      }.get()
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    self.settings = settings
    self.clock = clock
    self.logger = logger
    self.group = group
    self.onRevocation = onRevocation
    self.onLoss = onLoss
    eventLoop = group.next()
    passwords = PasswordThreads(threads: settings.passwordThreads, queue: settings.passwordQueue)
    accountAttempts = AttemptLimiter(
      limit: settings.attemptsPerAccount,
      pause: settings.accountPause
    )
    clientAttempts = AttemptLimiter(limit: settings.attemptsPerClient, pause: settings.clientPause)
    lastTidying = clock()
    lastRefresh = clock() / 1_000
    beginRefreshing()
  }

  // MARK: Other servers

  /// Starts to read changes by other servers at regular intervals, if there are any.
  private nonisolated func beginRefreshing() {
    guard let interval = settings.refreshInterval else { return }
    _ = eventLoop.scheduleRepeatedTask(
      initialDelay: TimeAmount(interval),
      delay: TimeAmount(interval)
    ) { [weak self] task in
      guard let self else { return task.cancel() }
      assumeIsolated { $0.refresh() }
    }
  }

  /// How far back to look for tokens that other servers have revoked, in seconds.
  ///
  /// This is longer than their clocks differ, and than the storage may have been unreachable while
  /// they wrote.
  private static let lookBack: Int64 = 600

  /// Takes over keys and revocations from the store.
  private func refresh() {
    do {
      if let keys = try store.secret(.keys).flatMap({ KeyRing(json: $0) }),
        keys.current.id != authority.keys.current.id
      {
        authority.keys = keys
        logger.notice("another server changed the key that signs tokens")
      }
      let now = clock() / 1_000
      // After an outage of the storage, more may have been missed.
      let since = min(now, lastRefresh) - Self.lookBack
      for note in try Self.revocations(in: store, since: since)
      where authority.revocation(of: note.uid, in: note.database) != note {
        authority.revoke(note)
        onRevocation(note, 0)
      }
      lastRefresh = now
      if isBehind { logger.notice("account changes by other servers are read again") }
      isBehind = false
    } catch {
      noteAbsence(error)
      if !isBehind { logger.error("cannot read account changes by other servers: \(error)") }
      isBehind = true
    }
  }

  private static func revocations(
    in store: any IdentityStore,
    since second: Int64
  ) throws -> [TokenAuthority.Revocation] {
    try store.revocations(since: second).map { note in
      var note = note
      note.isShutOut = try store.account(note.uid, in: note.database)?.isDisabled ?? true
      return note
    }
  }

  private static func openAuthority(
    _ store: any IdentityStore,
    at now: Int64,
    isShared: Bool
  ) throws -> TokenAuthority {
    let keys: KeyRing
    if let json = try store.secret(.keys) {
      guard let stored = KeyRing(json: json) else {
        throw StoreError(
          .damaged,
          description:
            "\(SecretFile.keys.rawValue) does not contain this program's keys; move it away to"
            + " create new ones, after which everybody must sign in again"
        )
      }
      keys = stored
    } else {
      let made = try KeyRing(random: Randomness.bytes(48), now: now)
      // Another server may create keys at the same moment; those that are stored first win.
      keys = KeyRing(json: try store.addSecret(.keys, holding: made.json)) ?? made
    }
    let authority = TokenAuthority(
      keys: keys,
      revocations: try revocations(in: store, since: (now - IdentityKeeping.revocation) / 1_000),
      isShared: isShared
    )
    let made = try SigningKey(created: now).json
    if SigningKey(json: try store.addSecret(.customTokenKey, holding: made)) == nil {
      try store.setSecret(.customTokenKey, to: made)
    }
    return authority
  }

  /// A secret shared by all servers with the same accounts; it stays when the signing keys change.
  nonisolated var sharedSecret: [UInt8] { authority.keys.refreshSecret }

  package nonisolated func verifier(of database: String) -> IdentityVerifier {
    IdentityVerifier(
      authority: authority,
      database: database,
      administratorKey: settings.administratorKey
    )
  }

  /// Closes the store and ends the threads.
  package func close() async {
    isClosed = true
    for wait in waits.values { wait.resume(returning: false) }
    waits = [:]
    await passwords.stop()
    do {
      try store.close()
    } catch {
      logger.error("cannot close the account store: \(error)")
    }
    // Not on this thread, which is one of those that end.
    group.shutdownGracefully(queue: .global()) { _ in }
  }

  // MARK: Store

  /// Calls the store; logs a failure and throws `failed` for it, or `unavailable`.
  func read<Value>(
    _ body: (any IdentityStore) throws -> Value
  ) throws(IdentityError) -> Value {
    do {
      let value = try body(store)
      note(nil, .read)
      return value
    } catch {
      note(error, .read)
      throw IdentityError(error)
    }
  }

  private enum StoreUse {
    case read, write
  }

  /// Logs a failure once for as long as it stays the same, and the end of all failures.
  private func note(_ error: (any Error)?, _ use: StoreUse) {
    if let error { noteAbsence(error) }
    let failure = error.map { "\($0)" }
    guard failure != failures[use] else { return }
    failures[use] = failure
    if let failure {
      logger.error("cannot \(use) the accounts: \(failure)")
    } else if failures.isEmpty {
      logger.notice("the account store works again")
    }
  }

  private func noteAbsence(_ error: any Error) {
    if IdentityError(error) == .unavailable { lastAbsence = .now }
  }

  /// Makes changes durable.
  ///
  /// - Throws: ``IdentityError``: `failed`, `unavailable` or `overtaken` if nothing was changed, or
  ///   `unknownOutcome` if that is unknown. After that no more changes are made, unless several
  ///   servers share the store.
  func apply(_ changes: [IdentityChange]) throws(IdentityError) {
    guard !isLost else { throw .unknownOutcome }
    var changes = changes
    let now = clock()
    if now - lastTidying > 3_600_000 {
      lastTidying = now
      changes.append(.tidy(at: now))
    }
    do {
      try store.apply(changes)
      note(nil, .write)
    } catch {
      let error = error as? StoreError ?? StoreError(.failed, description: "\(error)")
      // It is no failure of the store that another server was faster.
      note(error.kind == .superseded ? nil : error, .write)
      guard !error.hasStoredNothing else { throw IdentityError(error) }
      // Data that several servers share is reread for each request, so nothing builds on the
      // unknown outcome.
      guard settings.refreshInterval == nil else {
        lastAbsence = .now
        throw .unknownOutcome
      }
      isLost = true
      onLoss(error)
      throw .unknownOutcome
    }
  }

  /// Stores that earlier tokens of an account are no longer valid, then notifies the hubs.
  ///
  /// The account has the second from which tokens are valid, and the changes are stored with it.
  /// The user's connections should be told after the delay, in milliseconds.
  func revoke(
    _ account: Account,
    with changes: [IdentityChange],
    tellingAfter delay: Int64,
    isDeleted: Bool = false
  ) throws(IdentityError) {
    let note = TokenAuthority.Revocation(
      database: account.database,
      uid: account.uid,
      validSince: account.validSince,
      isShutOut: isDeleted || account.isDisabled
    )
    try apply(changes + [.revoke(note)])
    authority.revoke(note)
    onRevocation(note, delay)
  }

  /// Replaces the key that signs tokens; `onlyIfDue` leaves one that another server has just made.
  func rotateKeys(onlyIfDue: Bool = false) throws(IdentityError) {
    var keys = authority.keys
    // The disk comes first: a token must not outlive the key that verifies it. If the write fails,
    // it does not matter which keys are on the disk, because the new ring includes the old keys.
    try read { store in
      try store.changeSecret(.keys) { json throws(StoreError) in
        // Another server may have rotated them.
        keys = json.flatMap { KeyRing(json: $0) } ?? authority.keys
        let now = clock()
        if !onlyIfDue || keys.isDue(at: now) { try keys.rotate(at: now) }
        return keys.json
      }
    }
    authority.keys = keys
    logger.notice("tokens are now signed with a new key")
  }
}

package struct IdentitySettings: Sendable {
  /// Whether the service acts as the Firebase emulator: it issues unsigned tokens, uses the
  /// emulator's error codes, and shows its codes and accounts to everyone.
  package var isEmulator = false
  /// How long a user's token is valid, in seconds.
  package var tokenLifetime: Int64 = 3_600
  package var administratorKey: AdministratorKey?
  /// Whether people can create accounts for themselves.
  package var allowsSignUp = true
  /// How much work it takes to try a password.
  package var passwordCost = PasswordCost.standard
  /// How many passwords are hashed at the same time.
  package var passwordThreads = 2
  /// How many more passwords may wait to be hashed.
  package var passwordQueue = 32
  /// How many wrong passwords in a row may be tried for one account before each attempt has to
  /// wait.
  package var attemptsPerAccount = 10
  /// How long it takes until one more may be tried without waiting, in milliseconds.
  var accountPause: Int64 = 60_000
  /// How long any further attempt has to wait, in milliseconds.
  package var accountDelay: Int64 = 5_000
  /// How many times in a row a client may fail, or ask for accounts and codes.
  package var attemptsPerClient = 100
  /// How long it takes until a client may do so once more, in milliseconds.
  package var clientPause: Int64 = 1_000
  /// How often changes by other servers are read; nil when there are none.
  package var refreshInterval: Duration?
  /// How recently a user must have signed in to change the address or the password, in seconds.
  package var recentSignIn: Int64 = 300

  package init() {}

  /// The settings of a server that acts as the Firebase emulator.
  package static var emulator: IdentitySettings {
    var settings = IdentitySettings()
    settings.isEmulator = true
    settings.passwordCost = .token
    return settings
  }
}

/// How long, and how many, outdated records an ``IdentityStore`` keeps.
package enum IdentityKeeping {
  /// How long a session is kept after its last use, in milliseconds.
  package static let session: Int64 = 400 * 24 * 3_600_000
  /// The maximum number of sessions of an account; the least recently used ones are ended.
  package static let sessionsPerAccount = 100
  /// The maximum number of replaced tokens of a session that are remembered.
  package static let tokensPerSession = 50
  /// How long revocations are kept, in milliseconds.
  package static let revocation = KeyRing.afterlife
}

struct SignedIn: Sendable {
  let account: Account
  let idToken: String
  let refreshToken: String
  /// How long ``idToken`` is valid, in seconds.
  let lifetime: Int64
}

/// A mail with a code that the emulator shows instead of sending it.
struct EmulatorMail: Sendable {
  let email: EmailAddress
  let purpose: OneTimeCode.Purpose
  let code: String

  /// The maximum number of mails kept.
  static let maximum = 1_000

  var json: JSONValue {
    .object(
      ("email", .string(email.text)),
      ("requestType", .string(purpose.rawValue)),
      ("oobCode", .string(code))
    )
  }
}

/// The source of random secrets.
enum Randomness {
  static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max) }
  }

  private static let letters = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
  )

  /// An unguessable name of random letters and digits.
  static func name(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in letters[Int.random(in: 0..<62)] }, as: UTF8.self)
  }

  static func uid() -> String { name(28) }
}
