internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The accounts of a server, as used on its event loop.
///
/// State: closed → open → closing (until requests in progress are answered) → closed. With a
/// verifier of its own, a server has no accounts, and this stays closed.
final class ServerIdentities {
  private let verifier: (any CredentialVerifier)?
  private let options: IdentityOptions
  private let isEmulator: Bool
  private let eventLoop: any EventLoop
  private let logger: Logger
  private let clock: @Sendable () -> Int64
  private var service: AccountService?
  /// The number of requests in progress.
  private var underWay = 0
  /// Continues closing once no request is in progress.
  private var onIdle: (() -> Void)?
  /// Whether the revoked users are known.
  private(set) var isReady = false

  init(
    verifier: (any CredentialVerifier)?,
    options: IdentityOptions,
    isEmulator: Bool,
    eventLoop: any EventLoop,
    logger: Logger,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.verifier = verifier
    self.options = options
    self.isEmulator = isEmulator
    self.eventLoop = eventLoop
    self.logger = logger
    self.clock = clock
  }

  /// The current verifier of a database's credentials.
  func verifier(of database: String) -> any CredentialVerifier {
    if let verifier { return verifier }
    if isEmulator { return EmulatorVerifier() }
    if let service { return service.verifier(of: database) }
    return NoSignIn()
  }

  /// A secret shared by all servers with the same accounts; nil without accounts.
  var sharedSecret: [UInt8]? { service?.sharedSecret }

  /// A verifier for a database that is opened before the accounts are.
  func laterVerifier(of database: String) -> any CredentialVerifier {
    LaterVerifier(identities: NIOLoopBound(self, eventLoop: eventLoop), database: database)
  }

  /// Looks up the verifier on the event loop when a credential arrives.
  private struct LaterVerifier: CredentialVerifier {
    let identities: NIOLoopBound<ServerIdentities>
    let database: String

    func verify(
      _ authentication: ClientRequest.Authentication,
      at timestamp: Int64
    ) throws(RequestError) -> VerifiedCredential {
      try identities.value.verifier(of: database).verify(authentication, at: timestamp)
    }

    func isShutOut(_ auth: JSONValue) -> Bool {
      identities.value.verifier(of: database).isShutOut(auth)
    }
  }

  /// Opens the accounts: reads the keys, or creates them.
  ///
  /// - Parameters:
  ///   - onRevocation: Called on the event loop with a user whose tokens from before a second since
  ///     1970 are no longer valid.
  ///   - onLoss: Called on the event loop when a write has failed and its outcome is unknown.
  /// - Returns: A future that fails with the store's error.
  func open(
    onRevocation: @escaping (TokenAuthority.Revocation) -> Void,
    onLoss: @escaping (StoreError) -> Void
  ) -> EventLoopFuture<Void> {
    guard verifier == nil, let openStore = options.openStore else {
      isReady = true
      return eventLoop.makeSucceededVoidFuture()
    }
    let told = NIOLoopBound(onRevocation, eventLoop: eventLoop)
    let lost = NIOLoopBound(onLoss, eventLoop: eventLoop)
    let promise = eventLoop.makePromise(of: AccountService.self)
    promise.completeWithTask { [options, isEmulator, eventLoop, logger, clock] in
      try await AccountService(
        openStore,
        settings: options.settings(isEmulator: isEmulator),
        clock: clock,
        logger: logger,
        onRevocation: { note, delay in
          eventLoop.scheduleTask(in: .milliseconds(delay)) {
            told.value(note)
          }
        },
        onLoss: { error in eventLoop.execute { lost.value(error) } }
      )
    }
    return promise.futureResult.assumeIsolated().map {
      self.service = $0
      self.isReady = true
    }.nonisolated()
  }

  /// Closes the store once all requests are answered; the future never fails.
  func close() -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    let service = service
    self.service = nil
    let close: () -> Void = { promise.completeWithTask { await service?.close() } }
    if underWay == 0 { close() } else { onIdle = close }
    return promise.futureResult
  }

  func answer(_ request: IdentityRequest) -> EventLoopFuture<HTTPReply> {
    let promise = eventLoop.makePromise(of: HTTPReply.self)
    guard let service else {
      let error = IdentityError("NOT_FOUND", detail: "This server has no accounts.", status: 404)
      promise.succeed(.answer(.identity(IdentityAnswer(error))))
      return promise.futureResult
    }
    underWay += 1
    let arrival = ContinuousClock.now
    promise.completeWithTask {
      .answer(.identity(await service.answer(request, since: arrival)))
    }
    promise.futureResult.assumeIsolated().whenComplete { _ in
      self.underWay -= 1
      guard self.underWay == 0 else { return }
      self.onIdle?()
      self.onIdle = nil
    }
    return promise.futureResult
  }
}

/// The server's own sign-in: sign-up, token lifetime and the administrators' key.
///
/// An emulator's accounts differ: its tokens are not signed, and all of them are believed.
public struct IdentityOptions: Sendable {
  /// How long a user's token is valid before it must be renewed: from a second to a day.
  public var tokenLifetime = Duration.seconds(3_600)
  /// The secret that makes anyone who presents it an administrator: 32 bytes or more; nil for none.
  public var administratorKey: String?
  /// Whether people can create accounts for themselves; otherwise only administrators can.
  public var allowsSignUp = true

  /// Opens the store of accounts and keys, which the server closes when it stops; nil keeps them in
  /// memory.
  package var openStore: (@Sendable () throws -> any IdentityStore)?
  /// How often changes by other servers are read; nil when there are none.
  package var refreshInterval: Duration?
  /// Adjusts other settings, such as the cost of a password.
  package var adjust: @Sendable (inout IdentitySettings) -> Void = { _ in }

  /// Makes the default options.
  public init() {}
}

extension IdentityOptions {
  func settings(isEmulator: Bool) -> IdentitySettings {
    var settings = isEmulator ? IdentitySettings.emulator : IdentitySettings()
    settings.tokenLifetime = tokenLifetime.components.seconds
    settings.administratorKey = administratorKey.flatMap { AdministratorKey($0) }
    settings.allowsSignUp = allowsSignUp
    settings.refreshInterval = refreshInterval
    adjust(&settings)
    return settings
  }
}

/// Believes every credential, as the emulator does; only for servers that no other machine can
/// reach.
///
/// `owner` and any administrative credential make an administrator; a token without a signature
/// makes the user that it names. Expiry is ignored, because test suites make tokens that expired in
/// 1970.
struct EmulatorVerifier: CredentialVerifier {
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    if authentication.isAdministrative || authentication.credential == "owner" {
      return VerifiedCredential(identity: .administrator)
    }
    guard let token = UnverifiedToken(authentication.credential) else {
      throw .invalidToken("Could not parse auth token.")
    }
    guard token.algorithm == "none" else {
      throw .invalidToken("The emulator accepts only unsigned tokens, such as emulators issue.")
    }
    guard let uid = token.claims["sub"]?.string ?? token.claims["user_id"]?.string, !uid.isEmpty
    else { throw .invalidToken("The token names no user by \"sub\" or \"user_id\".") }
    let provider = token.claims["firebase"]?["sign_in_provider"] ?? .string("custom")
    let auth = JSONValue.object(
      ("uid", .string(uid)),
      ("provider", provider),
      ("token", token.claims)
    )
    return VerifiedCredential(identity: .user(auth))
  }
}

/// A JSON Web Token whose signature is not checked.
struct UnverifiedToken {
  /// The signature algorithm, or "none" for a token without a signature.
  let algorithm: String
  let claims: JSONValue

  /// Parses a token; nil if it is not one.
  ///
  /// - Complexity: O(length)
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let algorithm = header["alg"]?.string, claims.members != nil
    else { return nil }
    self.algorithm = algorithm
    self.claims = claims
  }

  /// Parses base64 text with the URL-safe or the standard alphabet, with or without padding.
  private static func json(_ part: Substring) -> JSONValue? {
    var (decoder, bytes) = (Base64Decoder(), [UInt8]())
    guard decoder.decode(String(part), into: &bytes), decoder.rest != nil else { return nil }
    return try? JSONParser.parse(bytes)
  }
}
