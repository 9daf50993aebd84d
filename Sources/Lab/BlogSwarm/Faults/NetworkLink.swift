internal import NIOCore

/// The two ends of a connection through a network, and what the client has sent on it.
///
/// Confined to the event loop of the network. It is an object since handing bytes on may end the very
/// connection meanwhile.
final class NetworkLink {
  /// Where bytes go.
  enum Direction {
    case toServer
    case toClient
  }

  /// The most that is remembered of what a client has sent, in bytes.
  static let recordedBytes = 4 * 1_024 * 1_024

  let process: Int
  let client: any Channel
  let server: any Channel
  /// Everything that the client has sent since the beginning; nil when it was too much.
  private(set) var sent: ByteBuffer? = ByteBuffer()
  private let loop: any EventLoop
  /// The delivery of the last piece in each direction.
  private var lastToServer: EventLoopFuture<Void>
  private var lastToClient: EventLoopFuture<Void>

  init(_ process: Int, _ client: any Channel, _ server: any Channel, on loop: any EventLoop) {
    self.process = process
    self.client = client
    self.server = server
    self.loop = loop
    lastToServer = loop.makeSucceededVoidFuture()
    lastToClient = loop.makeSucceededVoidFuture()
  }

  /// The end at which the bytes of a direction arrive.
  func source(_ direction: Direction) -> any Channel {
    direction == .toServer ? client : server
  }

  /// Notes what the client has sent.
  func record(_ bytes: ByteBuffer) {
    guard let count = sent?.readableBytes, count + bytes.readableBytes <= Self.recordedBytes else {
      sent = nil
      return
    }
    sent?.writeImmutableBuffer(bytes)
  }

  /// Delivers a piece some time after the one before it, and reads on then.
  ///
  /// One reading gives several pieces at times, of which a short one must not overtake a long one.
  func deliver(_ bytes: ByteBuffer, _ direction: Direction, after delay: TimeAmount) {
    let (source, sink) = direction == .toServer ? (client, server) : (server, client)
    let last = direction == .toServer ? lastToServer : lastToClient
    let delivery = last.flatMap { [loop] in
      delay == .zero
        ? loop.makeSucceededVoidFuture() : loop.scheduleTask(in: delay) {}.futureResult
    }.flatMap { sink.writeAndFlush(bytes) }
    delivery.whenSuccess { source.read() }
    if direction == .toServer { lastToServer = delivery } else { lastToClient = delivery }
  }
}
