internal import NIOCore
internal import NIOHTTP1

/// Remembers the head of a request, which an upgrade that is refused does not hand on, and answers
/// what is no request at all.
final class RequestHeadRecorder: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private(set) var head: HTTPRequestHead?
  /// Why the upgrade was refused that this request asked for.
  var refusal: HTTPAnswer?
  /// Whether somebody further on answers what is no request.
  var handsErrorsOn = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let head) = Self.unwrapInboundIn(data) { self.head = head }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if handsErrorsOn {
      context.fireErrorCaught(error)
      return
    }
    guard context.channel.isActive, head == nil else {
      context.close(promise: nil)
      return
    }
    let answer = Self.answer(to: error)
    let refusal = HTTPResponseHead(
      version: .http1_1,
      status: HTTPResponseStatus(statusCode: answer.status),
      headers: ["Content-Length": "0", "Connection": "close"]
    )
    context.write(Self.wrapOutboundOut(.head(refusal)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  /// What is answered to what is no request.
  static func answer(to error: any Error) -> HTTPAnswer {
    if let error = error as? HTTPParserError, error == .headerOverflow {
      return HTTPAnswer(status: 431, error: "the header is too long")
    }
    return HTTPAnswer(status: 400, error: "this is not an HTTP request")
  }
}
