internal import NIOCore

/// Measures the first line of a request before the parser gives up on it, so that it is known whether
/// the address or the header was too long.
///
/// State: within a first line → behind it, until ``beginRequest()``. Requests that arrive in one piece
/// behind another may be taken for parts of that one, and so for a header.
final class RequestLineGauge: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// How much of the line has arrived, in bytes.
  private(set) var length = 0
  private var isWithinLine = true

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isWithinLine {
      let bytes = Self.unwrapInboundIn(data).readableBytesView
      let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
      length += bytes.distance(from: bytes.startIndex, to: end ?? bytes.endIndex)
      isWithinLine = end == nil
    }
    context.fireChannelRead(data)
  }

  /// Expects the first line of another request.
  func beginRequest() {
    length = 0
    isWithinLine = true
  }
}
