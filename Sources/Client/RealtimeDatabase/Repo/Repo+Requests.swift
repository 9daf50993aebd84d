import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeSync
import RealtimeTransport

/// What any thread may call.
extension Repo {
  nonisolated var callbackQueue: DispatchQueue {
    get { shared.withLockedValue(\.callbackQueue) }
    set { shared.withLockedValue { $0.callbackQueue = newValue } }
  }

  /// Runs a block on the callback queue, after all that was delivered before.
  nonisolated func deliver(_ block: @escaping @Sendable () -> Void) {
    callbackQueue.async(execute: block)
  }

  nonisolated var serverTime: Int64 {
    wall + shared.withLockedValue(\.serverTimeOffset)
  }

  nonisolated func nextPushID() -> String {
    let now = wall
    let digits = options.keyDigits ?? { UInt8.random(in: 0..<64) }
    return shared.withLockedValue { shared in
      shared.pushIDs.next(time: now + shared.serverTimeOffset, random: digits)
    }
  }

  nonisolated var target: ConnectionTarget { shared.withLockedValue(\.target) }

  /// Has the first connection go elsewhere, unless it is too late for that.
  nonisolated func retarget(host: String, port: Int) -> Bool {
    shared.withLockedValue { shared in
      guard !shared.isUsed else { return false }
      let namespace = shared.target.namespace
      shared.target = ConnectionTarget(host: host, port: port, namespace: namespace)
      shared.isTargetChosen = true
      return true
    }
  }

  /// Has the database not be used until ``retarget(host:port:)`` has said where it is.
  nonisolated func forgetTarget() { shared.withLockedValue { $0.isTargetChosen = false } }

  nonisolated var settings: Settings { shared.withLockedValue(\.settings) }

  nonisolated func change(_ body: (inout Settings) -> Void) {
    let isLate = shared.withLockedValue { shared in
      body(&shared.settings)
      return shared.isUsed
    }
    precondition(!isLate, "persistence must be set before the database is used")
  }

  nonisolated func url(of path: Path) -> String { target.url(at: path.keys.map(\.text)) }

  nonisolated func get(
    _ query: DatabaseQuery,
    _ completion: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void
  ) {
    let token = RequestToken(nextNumber())
    submit { repo in
      guard !repo.isClosed else { return repo.fail(.get(query, completion)) }
      repo.completions[token] = .get(query, completion)
      repo.handle(.get(token, path: query.path, query: query.query))
      repo.startReadDeadline(token)
    }
  }

  nonisolated func write(
    _ reference: DatabaseReference,
    _ operation: WriteOperation,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .write($0, path: reference.path, operation)
    }
  }

  nonisolated func onDisconnect(
    _ reference: DatabaseReference,
    _ operation: WriteOperation,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .onDisconnect($0, path: reference.path, operation)
    }
  }

  nonisolated func cancelOnDisconnect(
    _ reference: DatabaseReference,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .cancelOnDisconnect($0, path: reference.path)
    }
  }

  nonisolated func setOffline(_ isOffline: Bool) {
    submit { $0.handle(isOffline ? .goOffline(.user) : .goOnline(.user)) }
  }

  nonisolated func purgeOutstandingWrites() {
    submit { $0.handle(.purgeOutstandingWrites) }
  }

  /// Closes for good, as nobody is left who could use it.
  nonisolated func shutDown() {
    submit(isUse: false) { $0.end() }
  }

  nonisolated func observeStatus(_ block: @escaping @Sendable (ConnectionStatus) -> Void) {
    submit(isUse: false) { repo in
      repo.statusObservers.append(block)
      let status = repo.status
      repo.deliver { block(status) }
    }
  }

  nonisolated func nextNumber() -> Int64 {
    shared.withLockedValue { shared in
      shared.lastNumber += 1
      return shared.lastNumber
    }
  }

  nonisolated func request(
    _ completion: Completion,
    _ input: @escaping @Sendable (RequestToken) -> RepoInput
  ) {
    let token = RequestToken(nextNumber())
    submit { repo in
      guard !repo.isClosed else { return repo.fail(completion) }
      repo.completions[token] = completion
      repo.handle(input(token))
    }
  }

  /// Hands work to the loop; what one thread submits runs in its order.
  nonisolated func submit(
    isUse: Bool = true,
    _ body: @escaping @Sendable (isolated Repo) -> Void
  ) {
    if isUse {
      let isTargetChosen = shared.withLockedValue { shared in
        shared.isUsed = true
        return shared.isTargetChosen
      }
      precondition(isTargetChosen, Database.notConfigured)
    }
    eventLoop.execute { self.assumeIsolated { $0.run(isUse: isUse, body) } }
  }
}
