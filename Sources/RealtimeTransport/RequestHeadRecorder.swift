internal import NIOCore
internal import NIOHTTP1

/// Remembers the head of a request, which an upgrade that is refused does not hand on, and answers
/// what is no request at all.
final class RequestHeadRecorder: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private(set) var head: HTTPRequestHead?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let head) = Self.unwrapInboundIn(data) { self.head = head }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard context.channel.isActive, head == nil else {
      context.close(promise: nil)
      return
    }
    let refusal = HTTPResponseHead(
      version: .http1_1,
      status: .badRequest,
      headers: ["Content-Length": "0", "Connection": "close"]
    )
    context.write(Self.wrapOutboundOut(.head(refusal)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }
}
