internal import NIOCore

/// Tells that a long message is arriving, of which nothing else shows before its end.
final class ReadMeter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// How much of a message counts as progress; more than what small messages have.
  private static let step = 32 * 1_024

  private let onProgress: () -> Void
  private var bytes = 0

  init(onProgress: @escaping () -> Void) {
    self.onProgress = onProgress
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += Self.unwrapInboundIn(data).readableBytes
    if bytes >= Self.step {
      bytes = 0
      onProgress()
    }
    context.fireChannelRead(data)
  }

  /// Begins anew, as a message is complete.
  func messageEnded() {
    bytes = 0
  }
}
