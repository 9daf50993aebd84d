internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

/// The identities of a server, as its event loop uses them.
///
/// State: closed → open → closing (until what has been asked is answered) → closed. Where another verifier
/// was given there are none, and it stays closed.
final class ServerIdentities {
  private let options: DatabaseServer.Options
  private let eventLoop: any EventLoop
  private let logger: Logger
  private let clock: @Sendable () -> Int64
  private var service: AccountService?
  /// How many requests are being answered.
  private var underWay = 0
  /// Goes on with closing once none is.
  private var onIdle: (() -> Void)?
  /// Whether it is known who has been shut out.
  private(set) var isReady = false

  init(
    options: DatabaseServer.Options,
    eventLoop: any EventLoop,
    logger: Logger,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.options = options
    self.eventLoop = eventLoop
    self.logger = logger
    self.clock = clock
  }

  /// Who tells the hub of a database whom a credential belongs to, now.
  func verifier(of database: String) -> any CredentialVerifier {
    if let verifier = options.credentialVerifier { return verifier }
    if options.isEmulator { return EmulatorVerifier() }
    if let service { return service.verifier(of: database) }
    return NoSignIn()
  }

  /// The same for a database that is opened before the identities are.
  func laterVerifier(of database: String) -> any CredentialVerifier {
    LaterVerifier(identities: NIOLoopBound(self, eventLoop: eventLoop), database: database)
  }

  /// Asks, on the event loop, who tells it when a credential comes.
  private struct LaterVerifier: CredentialVerifier {
    let identities: NIOLoopBound<ServerIdentities>
    let database: String

    func verify(
      _ authentication: ClientRequest.Authentication,
      at timestamp: Int64
    ) throws(CredentialError) -> VerifiedCredential {
      try identities.value.verifier(of: database).verify(authentication, at: timestamp)
    }

    func isShutOut(_ auth: JSONValue) -> Bool {
      identities.value.verifier(of: database).isShutOut(auth)
    }
  }

  /// Reads the keys, or makes them.
  ///
  /// - Parameters:
  ///   - onRevocation: Called on the event loop with a user whose tokens of before a second since 1970
  ///     do not count any more.
  ///   - onLoss: Called on the event loop when a write has failed of which nobody knows what the disk has.
  /// - Returns: A future that fails with what the store reports.
  func open(
    onRevocation: @escaping (TokenAuthority.Revocation) -> Void,
    onLoss: @escaping (StoreError) -> Void
  ) -> EventLoopFuture<Void> {
    guard options.credentialVerifier == nil else {
      isReady = true
      return eventLoop.makeSucceededVoidFuture()
    }
    let told = NIOLoopBound(onRevocation, eventLoop: eventLoop)
    let lost = NIOLoopBound(onLoss, eventLoop: eventLoop)
    let promise = eventLoop.makePromise(of: AccountService.self)
    promise.completeWithTask { [options, eventLoop, logger, clock] in
      try await AccountService.open(
        options.identities.openStore,
        settings: options.identities.settings(isEmulator: options.isEmulator),
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

  /// Closes the store once what has been asked is answered; the future never fails.
  func close() -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    let service = service
    self.service = nil
    let close: () -> Void = { promise.completeWithTask { await service?.close() } }
    if underWay == 0 { close() } else { onIdle = close }
    return promise.futureResult
  }

  /// Answers a request.
  func answer(_ request: IdentityRequest) -> EventLoopFuture<HTTPReply> {
    let promise = eventLoop.makePromise(of: HTTPReply.self)
    guard let service else {
      let error = IdentityError("NOT_FOUND", "This server has no accounts.", status: 404)
      promise.succeed(.answer(.identity(IdentityAnswer(error))))
      return promise.futureResult
    }
    underWay += 1
    promise.completeWithTask { .answer(.identity(await service.answer(request))) }
    promise.futureResult.assumeIsolated().whenComplete { _ in
      self.underWay -= 1
      guard self.underWay == 0 else { return }
      self.onIdle?()
      self.onIdle = nil
    }
    return promise.futureResult
  }
}
