internal import NIOCore
private import Synchronization

/// A handler of a connection's output.
protocol OutputHandler: AnyObject, SendableMetatype {
  /// Whether so much output is waiting that the owner should send less.
  var isCongested: Bool { get }

  /// Calls a closure once, as soon as the other end has caught up.
  func whenRelieved(_ body: @escaping () -> Void)
}

/// The last handler of a connection, which owns its output.
protocol ConnectionHandler: ChannelInboundHandler, OutputHandler {
  /// The output; nil once the connection has ended.
  var output: OutputQueue? { get }

  /// Called when the connection has ended, perhaps twice.
  func finish()
}

extension ConnectionHandler {
  var isCongested: Bool { output?.isCongested ?? false }

  func whenRelieved(_ body: @escaping () -> Void) {
    output?.whenRelieved(body)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    output?.writabilityChanged()
    context.fireChannelWritabilityChanged()
  }
}

/// A server's view of the output of a connection on another event loop.
///
/// The server counts what it sends, and the connection's event loop reports the rest, so that both
/// together never show less than what is waiting.
final class OutputMirror: Sendable {
  private let link: LoopLink
  private let limits: Shared<TransportLimits>
  private let total: OutputTotal?
  private let onTheWay = Atomic(0)
  /// The bytes that are being passed on, as far as the total still counts them as on the way.
  private let arriving = Atomic(0)
  private let waiting = Atomic(0)
  private let writable = Atomic(true)
  private let onRelief: NIOLoopBoundBox<(() -> Void)?>

  /// Makes a view.
  ///
  /// - Parameters:
  ///   - link: Leads from the server to the connection.
  ///   - limits: The limits of the connection.
  ///   - total: Counts the output of all connections.
  init(_ link: LoopLink, limits: Shared<TransportLimits>, total: OutputTotal?) {
    self.link = link
    self.limits = limits
    self.total = total
    onRelief = .makeBoxSendingValue(nil, eventLoop: link.server)
  }

  // MARK: The server's event loop

  /// Sends output of a length to the connection's event loop, where a closure passes it on.
  func send(_ bytes: Int, _ pass: @escaping @Sendable () -> Void) {
    onTheWay.add(bytes, ordering: .relaxed)
    total?.count(bytes)
    link.toConnections { [self] in
      arriving.store(bytes, ordering: .relaxed)
      pass()
      total?.count(-takeArriving())
      onTheWay.subtract(bytes, ordering: .relaxed)
    }
  }

  /// Whether the waiting output exceeds a few small messages.
  var hasNotableOutput: Bool {
    waitingBytes + onTheWay.load(ordering: .relaxed) > OutputQueue.gatheredLimit(limits)
  }

  /// Whether the other end is not keeping up, as ``OutputQueue/isCongested``.
  var isCongested: Bool {
    guard limits.congestionBytes <= limits.pendingBytes else { return false }
    return !isWritable || onTheWay.load(ordering: .relaxed) > limits.congestionBytes
      || total?.isTight == true && hasNotableOutput
  }

  /// Calls a closure once, as soon as a handler's output has been read; never if the handler has gone.
  func whenRelieved<Handler: OutputHandler>(
    _ handler: NIOLoopBoundBox<Handler?>,
    _ body: @escaping () -> Void
  ) {
    onRelief.value = body
    link.toConnections { [self] in
      guard let handler = handler.value else { return }
      // It may have caught up in the meantime.
      if handler.isCongested { handler.whenRelieved { self.relieve() } } else { relieve() }
    }
  }

  private func relieve() {
    link.toServer { [onRelief] in
      let body = onRelief.value
      onRelief.value = nil
      body?()
    }
  }

  /// Forgets who waits for relief.
  func end() {
    onRelief.value = nil
  }

  // MARK: The connection's event loop

  /// Returns the bytes that have just arrived and that the total still counts, once.
  ///
  /// Whoever counts them as waiting subtracts them in the same step, so that a long response is
  /// never counted twice.
  func takeArriving() -> Int {
    arriving.exchange(0, ordering: .relaxed)
  }

  /// The output that waits in the connection, in bytes.
  var waitingBytes: Int {
    get { waiting.load(ordering: .relaxed) }
    set { waiting.store(newValue, ordering: .relaxed) }
  }

  /// Whether the output in the connection is below all limits.
  var isWritable: Bool {
    get { writable.load(ordering: .relaxed) }
    set { writable.store(newValue, ordering: .relaxed) }
  }
}
