internal import NIOCore
internal import NIOHTTP1

/// Remembers the head of a request, which an upgrade that is refused does not hand on, and answers
/// what is no request at all.
final class RequestHeadRecorder: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let gauge: RequestLineGauge
  private let headerBytes: Int
  private(set) var head: HTTPRequestHead?
  /// Why the upgrade was refused that this request asked for.
  var refusal: HTTPAnswer?
  /// Whether somebody further on answers what is no request.
  var handsErrorsOn = false
  private var farewell: Scheduled<Void>?

  /// Makes a recorder.
  ///
  /// - Parameters:
  ///   - gauge: What measures the first line of each request.
  ///   - headerBytes: How long that line and the header may be.
  init(gauge: RequestLineGauge, headerBytes: Int) {
    self.gauge = gauge
    self.headerBytes = headerBytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end: gauge.beginRequest()
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if handsErrorsOn {
      context.fireErrorCaught(error)
      return
    }
    // More of what is no request; it is read only so that the answer gets through.
    guard farewell == nil else { return }
    guard context.channel.isActive, head == nil else {
      context.close(promise: nil)
      return
    }
    let answer = answer(to: error)
    let refusal = HTTPResponseHead(
      version: .http1_1,
      status: HTTPResponseStatus(statusCode: answer.status),
      headers: [
        "Content-Type": answer.contentType ?? "text/plain",
        "Content-Length": "\(answer.body.count)",
        "Connection": "close",
      ]
    )
    context.write(Self.wrapOutboundOut(.head(refusal)), promise: nil)
    let body = ByteBuffer(bytes: answer.body)
    context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    leave(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    farewell?.cancel()
    context.fireChannelInactive()
  }

  /// Ends the output and waits a little, since closing with input unread could lose the answer.
  private func leave(_ context: ChannelHandlerContext) {
    let channel = context.channel
    farewell = context.eventLoop.scheduleTask(in: PlainRequestHandler.farewell) {
      channel.close(promise: nil)
    }
    context.close(mode: .output, promise: nil)
  }

  /// What is answered to what is no request.
  func answer(to error: any Error) -> HTTPAnswer {
    if let error = error as? HTTPParserError, error == .headerOverflow {
      return gauge.length > headerBytes
        ? HTTPAnswer(status: 414, error: "the address is too long")
        : HTTPAnswer(status: 431, error: "the header is too long")
    }
    return HTTPAnswer(status: 400, error: "this is not an HTTP request")
  }
}
