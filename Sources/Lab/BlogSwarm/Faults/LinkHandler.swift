internal import NIOCore

/// Hands on what arrives at one end of a connection, a piece at a time.
///
/// Nothing is read before the last piece has gone on, so that a slow end slows the other one down, as
/// the network between them would.
final class LinkHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let onRead: (ByteBuffer) -> Void
  private let onEnd: () -> Void

  init(onRead: @escaping (ByteBuffer) -> Void, onEnd: @escaping () -> Void) {
    self.onRead = onRead
    self.onEnd = onEnd
  }

  /// An end that has been joined before it is open can be read only now.
  func channelActive(context: ChannelHandlerContext) {
    context.read()
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    onRead(Self.unwrapInboundIn(data))
  }

  func channelInactive(context: ChannelHandlerContext) {
    onEnd()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
