internal import NIOCore
internal import NIOPosix
package import RealtimeTransport

/// A client connection whose messages a test receives one by one, each within a deadline.
package final class ClientProbe: Sendable {
  /// Thrown when nothing has arrived for too long.
  package struct DeadlinePassed: Error {}

  /// Thrown when the connection ended before it was known.
  package struct ToldTooEarly: Error {}

  private struct State {
    var connection: ClientConnection?
    var messages: [String] = []
    var readers: [EventLoopPromise<String>] = []
  }

  private let loop: any EventLoop
  private let state: NIOLoopBoundBox<State>
  private let end: EventLoopPromise<ConnectionEnd>

  /// Starts to connect, and returns without waiting for the response.
  ///
  /// - Throws: The event loop's error after it has been shut down.
  package init(
    _ target: ConnectionTarget,
    lastSession: String? = nil,
    parameters: String = "",
    trust: TrustRoots = .system,
    limits: TransportLimits = .client
  ) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    self.loop = loop
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
    end = loop.makePromise()
    try await loop.submit { [self] in
      state.value.connection = ClientConnection(
        to: target,
        lastSession: lastSession,
        parameters: parameters,
        trust: trust,
        on: loop,
        limits: limits,
        onMessage: { self.received($0) },
        onClose: { self.closed($0) }
      )
    }.get()
  }

  /// The next message as text.
  ///
  /// - Throws: The end of the connection if it comes first, or `DeadlinePassed`.
  package func next() async throws -> String {
    let promise = loop.makePromise(of: String.self)
    loop.execute { [self] in
      if !state.value.messages.isEmpty {
        promise.succeed(state.value.messages.removeFirst())
      } else {
        state.value.readers.append(promise)
      }
    }
    return try await within(promise)
  }

  /// Whether no message that has arrived is waiting.
  ///
  /// - Throws: The event loop's error after it has been shut down.
  package func hasNothing() async throws -> Bool {
    try await loop.submit { self.state.value.messages.isEmpty }.get()
  }

  /// Waits for the end of the connection.
  ///
  /// - Throws: `DeadlinePassed`.
  package func closed() async throws -> ConnectionEnd {
    let promise = loop.makePromise(of: ConnectionEnd.self)
    end.futureResult.cascade(to: promise)
    return try await within(promise)
  }

  /// The messages that no test has received, once the connection has ended.
  ///
  /// - Throws: `DeadlinePassed`.
  package func messagesUntilClosed() async throws -> [String] {
    _ = try await closed()
    return try await loop.submit { self.state.value.messages }.get()
  }

  /// Sends a text as one message.
  package func send(_ text: String) {
    loop.execute { [self] in state.value.connection?.send(Array(text.utf8)) }
  }

  /// Sends bytes as one message, whether or not they are text.
  package func send(_ bytes: [UInt8]) {
    loop.execute { [self] in state.value.connection?.send(bytes) }
  }

  /// Closes the connection.
  package func close() {
    loop.execute { [self] in state.value.connection?.close() }
  }

  private func within<Value: Sendable>(_ promise: EventLoopPromise<Value>) async throws -> Value {
    let deadline = loop.scheduleTask(in: .seconds(20)) { promise.fail(DeadlinePassed()) }
    defer { deadline.cancel() }
    return try await promise.futureResult.get()
  }

  private func received(_ message: [UInt8]) {
    let text = String(decoding: message, as: UTF8.self)
    if state.value.readers.isEmpty {
      state.value.messages.append(text)
    } else {
      state.value.readers.removeFirst().succeed(text)
    }
  }

  private func closed(_ reason: ConnectionEnd) {
    guard state.value.connection != nil else { return end.fail(ToldTooEarly()) }
    state.value.connection = nil
    let readers = state.value.readers
    state.value.readers = []
    for reader in readers { reader.fail(reason) }
    end.succeed(reason)
  }
}
