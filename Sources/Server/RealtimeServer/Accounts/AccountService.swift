private import Dispatch
package import Logging
internal import NIOCore
internal import NIOPosix
internal import RealtimeCore
package import RealtimeHub

/// The identities of a server: signing up and in, tokens, and what administrators do with accounts.
///
/// Isolation: the actor's executor is a thread of its own, which waits for the store; passwords are
/// hashed on further threads. Which tokens count is told by ``authority``, to any thread.
package final actor AccountService {
  nonisolated let eventLoop: any EventLoop
  nonisolated let settings: IdentitySettings
  nonisolated let authority: TokenAuthority
  nonisolated let logger: Logger
  nonisolated let clock: @Sendable () -> Int64
  private nonisolated let group: MultiThreadedEventLoopGroup
  /// Called when the earlier tokens of a user do not count any more, and how many milliseconds later
  /// the connections should be told; from the actor's thread.
  private nonisolated let onRevocation: @Sendable (TokenAuthority.Revocation, Int64) -> Void

  /// Called from the actor's thread when a write has failed and its outcome on disk is unknown.
  private nonisolated let onLoss: @Sendable (StoreError) -> Void

  private let store: any IdentityStore
  /// Whether the outcome of a write is unknown, so that nothing more may be written.
  private var isLost = false
  let passwords: PasswordThreads
  var accountAttempts: AttemptLimiter
  var clientAttempts: AttemptLimiter
  var waitingAttempts = WaitingAttempts()
  /// What the emulator would have sent by mail, oldest first.
  var mails: [EmulatorMail] = []
  private var lastTidying: Int64
  /// When it was last known what other servers have written, in seconds since 1970.
  private var lastRefresh: Int64

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  private init(
    store: any IdentityStore,
    settings: IdentitySettings,
    authority: TokenAuthority,
    clock: @escaping @Sendable () -> Int64,
    logger: Logger,
    group: MultiThreadedEventLoopGroup,
    onRevocation: @escaping @Sendable (TokenAuthority.Revocation, Int64) -> Void,
    onLoss: @escaping @Sendable (StoreError) -> Void
  ) {
    self.store = store
    self.settings = settings
    self.authority = authority
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
  }

  /// Opens the accounts that a store keeps, and makes the keys that are missing.
  ///
  /// - Parameters:
  ///   - openStore: Opens where they rest, on the service's thread.
  ///   - settings: How they are looked after.
  ///   - clock: The time in milliseconds since 1970.
  ///   - logger: Receives events; never passwords, tokens or codes.
  ///   - onRevocation: Called when the earlier tokens of a user do not count any more, with the
  ///     milliseconds after which the user's connections should be told.
  ///   - onLoss: Called when a write has failed and its outcome on disk is unknown.
  /// - Returns: The service.
  /// - Throws: `StoreError` when the store cannot be read.
  package static func open(
    _ openStore: @escaping @Sendable () throws -> any IdentityStore,
    settings: IdentitySettings,
    clock: @escaping @Sendable () -> Int64,
    logger: Logger,
    onRevocation: @escaping @Sendable (TokenAuthority.Revocation, Int64) -> Void = { _, _ in },
    onLoss: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) async throws -> AccountService {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      let (store, authority) = try await group.next().submit {
        let store = try openStore()
        do {
          let isShared = settings.refreshInterval != nil
          return (store, try openAuthority(store, at: clock(), isShared: isShared))
        } catch {
          try? store.close()
          throw error
        }
      }.get()
      let service = AccountService(
        store: store,
        settings: settings,
        authority: authority,
        clock: clock,
        logger: logger,
        group: group,
        onRevocation: onRevocation,
        onLoss: onLoss
      )
      service.beginRefreshing()
      return service
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  // MARK: Other servers

  /// Looks again and again for what other servers have written, if there are any.
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

  /// How far back is looked for users whose tokens other servers have ended, in seconds: longer than
  /// their clocks differ, and than the storage may have been out of reach while they wrote.
  private static let lookBack: Int64 = 600

  /// Takes over keys and ended tokens from what is stored.
  private func refresh() {
    do {
      if let keys = try store.secret(.keys).flatMap({ KeyRing(json: $0) }),
        keys.current.id != authority.keys.current.id
      {
        authority.keys = keys
        logger.notice("another server has changed the key of tokens")
      }
      let now = clock() / 1_000
      // After a time without the storage, more may have been missed.
      let since = min(now, lastRefresh) - Self.lookBack
      for note in try Self.revocations(in: store, since: since) where !authority.knows(note) {
        authority.revoke(note)
        onRevocation(note, 0)
      }
      lastRefresh = now
    } catch {
      logger.error("what other servers have done to accounts is unknown: \(error)")
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
            "\(SecretFile.keys.rawValue) holds no keys of this program; with it moved away, new"
            + " ones are made and everybody signs in again"
        )
      }
      keys = stored
    } else {
      let made = KeyRing(random: Randomness.bytes(48), now: now)
      // Another server may make some at the same moment: those that are stored first count.
      keys = KeyRing(json: try store.addSecret(.keys, holding: made.json)) ?? made
    }
    let authority = TokenAuthority(
      keys: keys,
      revocations: try revocations(in: store, since: (now - IdentityKeeping.revocation) / 1_000),
      isShared: isShared
    )
    let made = SigningKey(created: now).json
    if SigningKey(json: try store.addSecret(.customTokenKey, holding: made)) == nil {
      try store.setSecret(.customTokenKey, to: made)
    }
    return authority
  }

  /// A secret that servers with the same accounts share, and that stays when the keys of tokens change.
  nonisolated var sharedSecret: [UInt8] { authority.keys.refreshSecret }

  /// The verifier for the hub of a database.
  package nonisolated func verifier(of database: String) -> IdentityVerifier {
    IdentityVerifier(authority, database: database, administratorKey: settings.administratorKey)
  }

  /// Closes the store and ends the threads.
  package func close() async {
    await passwords.stop()
    do {
      try store.close()
    } catch {
      logger.error("the store of the accounts was not closed: \(error)")
    }
    // Not from this thread, which is one of those that end.
    group.shutdownGracefully(queue: .global()) { _ in }
  }

  // MARK: Store

  /// Asks the store for something.
  func read<Value>(
    _ body: (any IdentityStore) throws -> Value
  ) throws(IdentityError) -> Value {
    do {
      return try body(store)
    } catch {
      logger.error("the accounts cannot be used: \(error)")
      throw .failed
    }
  }

  /// Makes changes durable.
  ///
  /// - Throws: ``IdentityError``: `failed` when none of them was made; `unknownOutcome` when that is
  ///   unknown, after which no others are made.
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
    } catch {
      logger.error("the accounts cannot be written: \(error)")
      let error = error as? StoreError ?? StoreError(.failed, description: "\(error)")
      guard !error.hasStoredNothing else { throw .failed }
      // What several servers share is read anew for each request, so nothing builds on the doubt.
      guard settings.refreshInterval == nil else { throw .unknownOutcome }
      isLost = true
      onLoss(error)
      throw .unknownOutcome
    }
  }

  /// Stores that the earlier tokens of an account do not count, then tells everyone.
  ///
  /// - Parameters:
  ///   - account: The account, with the second since which tokens count.
  ///   - changes: What is stored with it.
  ///   - delay: When the connections of the user are to be told, in milliseconds from now.
  ///   - isDeleted: Whether the account has been deleted.
  /// - Throws: ``IdentityError`` when it cannot be stored.
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

  /// Puts a new key in the place of the one that signs.
  func rotateKeys() throws(IdentityError) {
    if settings.refreshInterval != nil { refresh() }
    var keys = authority.keys
    keys.rotate(at: clock())
    let json = keys.json
    // First to the disk: a token must not outlive the key that it is checked with. If the write fails,
    // it does not matter which keys are on the disk: the new ring includes the old keys.
    try read { try $0.setSecret(.keys, to: json) }
    authority.keys = keys
    logger.notice("a new key signs tokens from now on")
  }
}

/// How a server's identities are looked after.
package struct IdentitySettings: Sendable {
  /// Whether the service stands in for the emulator: tokens without signatures, its error codes, its
  /// codes and accounts for everyone to see.
  package var isEmulator = false
  /// How long a token of a user counts, in seconds.
  package var tokenLifetime: Int64 = 3_600
  /// The secret of the administrators, or nil when they have none.
  package var administratorKey: AdministratorKey?
  /// Whether people can make accounts for themselves.
  package var allowsSignUp = true
  /// How much work it is to try a password.
  package var passwordCost = PasswordCost.standard
  /// How many passwords are hashed at once.
  package var passwordThreads = 2
  /// How many more may wait for it.
  package var passwordQueue = 32
  /// How often in a row a wrong password may be tried for one account before each attempt has to wait.
  package var attemptsPerAccount = 10
  /// How long it takes until one more may be tried at once, in milliseconds.
  package var accountPause: Int64 = 60_000
  /// How long an attempt beyond waits before it is looked at, in milliseconds.
  package var accountDelay: Int64 = 5_000
  /// How often in a row somebody may fail, or ask for accounts and codes.
  package var attemptsPerClient = 100
  /// How long it takes until somebody may do so once more, in milliseconds.
  package var clientPause: Int64 = 1_000
  /// How often is looked for what other servers have written; nil when there are none.
  package var refreshInterval: Duration?
  /// How long ago a user may have signed in who changes the address or the password, in seconds.
  package var recentSignIn: Int64 = 300

  /// Makes the settings of a server that people use.
  package init() {}

  /// The settings of a server that stands in for the emulator.
  package static var emulator: IdentitySettings {
    var settings = IdentitySettings()
    settings.isEmulator = true
    settings.passwordCost = .token
    return settings
  }
}

/// How much an ``IdentityStore`` keeps of what has been used up.
package enum IdentityKeeping {
  /// How long a session that is not continued is kept, in milliseconds.
  package static let session: Int64 = 400 * 24 * 3_600_000
  /// Most sessions of an account; the ones that were continued longest ago are ended.
  package static let sessionsPerAccount = 100
  /// Most tokens of a session that are known after they were replaced.
  package static let tokensPerSession = 50
  /// How long it is known whose earlier tokens do not count, in milliseconds.
  package static let revocation = KeyRing.afterlife
}

/// The sender of a request to the service, and the database it concerns.
struct Caller: Sendable {
  /// The database whose accounts are meant.
  let database: String
  /// What attempts are counted under: an address, or a user of this machine.
  let client: String
  /// Whether it is an administrator.
  let isAdministrator: Bool
}

/// What a user gets by signing in.
struct SignedIn: Sendable {
  let account: Account
  let idToken: String
  let refreshToken: String
  /// How long the first of the tokens counts, in seconds.
  let lifetime: Int64
}

/// A mail with a code that the emulator shows instead of sending it.
struct EmulatorMail: Sendable {
  let email: EmailAddress
  let purpose: OneTimeCode.Purpose
  let code: String

  /// Most mails that are kept.
  static let maximum = 1_000

  /// The mail as the emulator shows it.
  var json: JSONValue {
    .object(
      ("email", .string(email.text)),
      ("requestType", .string(purpose.rawValue)),
      ("oobCode", .string(code))
    )
  }
}

/// Where secrets come from.
enum Randomness {
  /// Bytes that nobody can guess.
  static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  private static let letters = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
  )

  /// An identifier of a user: 28 letters and digits.
  static func uid() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<28).map { _ in letters[Int.random(in: 0..<62, using: &generator)] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
