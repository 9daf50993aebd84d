internal import NIOCore

/// Carries calls between the event loop of a server and an event loop of its connections.
///
/// Calls arrive in order, those of one tick together. If both are the same event loop, the link is
/// direct, and each call is made at once.
///
/// Calls to the server carry the input of clients. Only a few deliveries are under way to it at a
/// time; what arrives meanwhile is collected, and a connection with much of it is not read.
final class LoopLink: Sendable {
  /// The most deliveries that are under way to the server: one is handled while the next arrives.
  private static let deliveries = 2

  private final class Outbox {
    var calls: [@Sendable () -> Void] = []
    var hasEnded = false
  }

  private final class Inbox {
    var calls: [@Sendable () -> Void] = []
    var senders: [Sender] = []
    var isScheduled = false
    /// The senders of each delivery that is under way.
    var underWay = CircularBuffer<[Sender]>(initialCapacity: LoopLink.deliveries)
  }

  /// A connection whose input is collected; confined to its event loop.
  final class Sender {
    /// The collected messages, and those under way, at which nothing more is read.
    private static let mostMessages = 16
    /// Their bytes at which nothing more is read.
    private static let mostBytes = 256 * 1_024

    /// Called when the connection must not be read for now, or may be read again.
    private let hold: (Bool) -> Void
    private var bytes = 0
    private var isHeld = false
    /// The bytes of each message, the oldest first.
    private var sizes = CircularBuffer<Int>()

    init(hold: @escaping (Bool) -> Void) {
      self.hold = hold
    }

    fileprivate func sent(_ bytes: Int) {
      sizes.append(bytes)
      self.bytes += bytes
      changed()
    }

    fileprivate func delivered() {
      bytes -= sizes.popFirst() ?? 0
      changed()
    }

    private func changed() {
      let isFull = sizes.count >= Self.mostMessages || bytes >= Self.mostBytes
      guard isFull != isHeld else { return }
      isHeld = isFull
      hold(isFull)
    }
  }

  /// The event loop of the server.
  let server: any EventLoop
  /// The event loop of the connections.
  let connections: any EventLoop
  /// Whether both are the same.
  let isDirect: Bool

  private let outbox: NIOLoopBoundBox<Outbox>
  private let inbox: NIOLoopBoundBox<Inbox>

  init(from server: any EventLoop, to connections: any EventLoop) {
    self.server = server
    self.connections = connections
    isDirect = server === connections
    outbox = .makeBoxSendingValue(Outbox(), eventLoop: server)
    inbox = .makeBoxSendingValue(Inbox(), eventLoop: connections)
  }

  // MARK: To connections

  /// Makes a call on the connections' event loop; must be called on the server's.
  func toConnections(_ call: @escaping @Sendable () -> Void) {
    guard !isDirect else { return call() }
    let outbox = outbox.value
    guard !outbox.hasEnded else { return }
    outbox.calls.append(call)
    if outbox.calls.count == 1 { server.execute { self.sendCalls() } }
  }

  private func sendCalls() {
    let outbox = outbox.value
    let calls = outbox.calls
    outbox.calls = []
    guard !outbox.hasEnded, !calls.isEmpty else { return }
    connections.execute { for call in calls { call() } }
  }

  /// Makes no more calls on the connections' event loop, which is about to end.
  ///
  /// Must be called on the server's event loop, once all connections are closed.
  func end() {
    outbox.value.hasEnded = true
  }

  // MARK: To the server

  /// Makes a call on the server's event loop; must be called on the connections'.
  func toServer(_ call: @escaping @Sendable () -> Void) {
    guard !isDirect else { return call() }
    inbox.value.calls.append(call)
    scheduleDelivery()
  }

  /// Makes a call with a client's message on the server's event loop.
  ///
  /// - Parameters:
  ///   - sender: The connection.
  ///   - bytes: The length of the message.
  ///   - call: The call.
  func toServer(from sender: Sender, bytes: Int, _ call: @escaping @Sendable () -> Void) {
    guard !isDirect else { return call() }
    let inbox = inbox.value
    inbox.calls.append(call)
    inbox.senders.append(sender)
    scheduleDelivery()
    sender.sent(bytes)
  }

  private func scheduleDelivery() {
    let inbox = inbox.value
    guard !inbox.isScheduled, inbox.underWay.count < Self.deliveries else { return }
    inbox.isScheduled = true
    connections.execute {
      self.inbox.value.isScheduled = false
      self.deliver()
    }
  }

  private func deliver() {
    let inbox = inbox.value
    guard !inbox.calls.isEmpty, inbox.underWay.count < Self.deliveries else { return }
    let calls = inbox.calls
    inbox.underWay.append(inbox.senders)
    inbox.calls = []
    inbox.senders = []
    server.execute {
      for call in calls { call() }
      self.toConnections { self.delivered() }
    }
  }

  private func delivered() {
    for sender in inbox.value.underWay.popFirst() ?? [] { sender.delivered() }
    deliver()
  }
}
