internal import NIOCore
internal import NIOHTTP1

/// Answers one HTTP request that is not for a WebSocket, and closes the connection.
final class PlainRequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let recorder: RequestHeadRecorder
  private let peer: Peer
  private let handlers: ServerHandlers
  private let bodyLimit: Int
  private var body: [UInt8] = []
  private var isAnswered = false

  init(recorder: RequestHeadRecorder, peer: Peer, handlers: ServerHandlers, bodyLimit: Int) {
    self.recorder = recorder
    self.peer = peer
    self.handlers = handlers
    self.bodyLimit = bodyLimit
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isAnswered else { return }
    switch Self.unwrapInboundIn(data) {
    case .head: break
    case .body(let part):
      guard body.count + part.readableBytes <= bodyLimit else {
        write(HTTPAnswer(status: 413, error: "the body is too long"), to: context)
        return
      }
      body.append(contentsOf: part.readableBytesView)
    case .end: answer(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head = recorder.head else { return }
    let request = HTTPRequest(head: head, body: body, peer: peer)
    if let refusal = refusal(of: request, isUpgrade: head.headers.contains(name: "Upgrade")) {
      write(refusal, to: context)
      return
    }
    handlers.answer(request, context.eventLoop).hop(to: context.eventLoop).assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success(let answer): self.write(answer, to: context)
        case .failure:
          self.write(HTTPAnswer(status: 500, error: "the server failed"), to: context)
        }
      }
  }

  private func refusal(of request: HTTPRequest, isUpgrade: Bool) -> HTTPAnswer? {
    if let refusal = RequestPolicy.refusal(of: request) { return refusal }
    guard request.path == "/.ws" else { return nil }
    if isUpgrade, let refusal = handlers.admit(request) { return refusal }
    return HTTPAnswer(status: 400, error: "this is for WebSockets only")
  }

  private func write(_ answer: HTTPAnswer, to context: ChannelHandlerContext) {
    guard !isAnswered else { return }
    isAnswered = true
    let head = HTTPResponseHead(
      version: .http1_1,
      status: HTTPResponseStatus(statusCode: answer.status),
      headers: [
        "Content-Type": answer.contentType,
        "Content-Length": String(answer.body.count),
        "Connection": "close",
      ]
    )
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    let body = context.channel.allocator.buffer(bytes: answer.body)
    context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }
}
