internal import NIOCore
internal import NIOHTTP1

/// Records the head of a request, because a refused upgrade does not forward it, and answers
/// malformed requests.
final class RequestHeadRecorder: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart

  private let gauge: RequestLineGauge
  /// The longest first line, and the longest header, in bytes.
  private let headerBytes: Int
  private(set) var head: HTTPRequestHead?
  /// The response that refused the upgrade of this request.
  var refusal: HTTPAnswer?
  /// Whether a later handler answers malformed requests.
  var handsErrorsOn = false
  /// Whether the client had ended its side of the connection before there was such a handler.
  private(set) var hasEnded = false
  private var farewell: Scheduled<Void>?

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

  /// Prepares for a request that may be upgraded, as the first one.
  func expectHandshake() {
    refusal = nil
    handsErrorsOn = false
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event as? ChannelEvent == .inputClosed, !handsErrorsOn else {
      return context.fireUserInboundEventTriggered(event)
    }
    hasEnded = true
    if head == nil { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The channel tells of this end, too: the client may still wait for an answer.
    if (error as? TLSFailure)?.kind == .truncated { return }
    if handsErrorsOn {
      context.fireErrorCaught(error)
      return
    }
    // Further malformed input is read only to let the response get through.
    guard farewell == nil else { return }
    guard context.channel.isActive, head == nil else {
      context.close(promise: nil)
      return
    }
    let encoder = AnswerEncoder(method: .GET, keepsAlive: false)
    for bytes in encoder.encode(answer(to: error)) {
      context.output.write(NIOAny(bytes), promise: nil)
    }
    context.output.flush()
    leave(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    farewell?.cancel()
    context.fireChannelInactive()
  }

  /// Ends the output and waits briefly, because closing with unread input could lose the response.
  private func leave(_ context: ChannelHandlerContext) {
    let channel = context.channel
    farewell = context.eventLoop.scheduleTask(in: PlainRequestHandler.farewell) {
      channel.close(promise: nil)
    }
    context.close(mode: .output, promise: nil)
  }

  /// The response to a malformed request.
  func answer(to error: any Error) -> HTTPAnswer {
    switch error as? HTTPParserError {
    case .headerOverflow:
      gauge.length > headerBytes
        ? HTTPAnswer(status: 414, error: "the address is too long")
        : HTTPAnswer(status: 431, error: "the header is too long")
    case .invalidURL:
      HTTPAnswer(status: 400, error: "the address has characters that must be percent-encoded")
    case .invalidMethod: HTTPAnswer(status: 400, error: "the method is unknown")
    case .invalidContentLength, .unexpectedContentLength:
      HTTPAnswer(status: 400, error: "the length of the body is not clear")
    default: HTTPAnswer(status: 400, error: "this is not an HTTP request")
    }
  }
}

/// Measures the first line of each request, so that a rejected request with a long address can be
/// told from one with a long header.
///
/// State: within a first line → after it, until ``beginRequest()``. A pipelined request may be
/// mistaken for a part of the previous one, and thus for its header.
final class RequestLineGauge: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// The number of bytes of the line that have arrived.
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

extension ChannelHandlerContext {
  /// Where responses are written as bytes: beyond the encoder, which stays in the pipeline.
  var output: ChannelHandlerContext {
    let encoder = try? pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    return encoder ?? self
  }
}

extension HTTPRequestHead {
  /// Whether the request is a WebSocket handshake as defined by RFC 6455.
  ///
  /// After any other request, the parser expects HTTP, which must not reach the frame decoder.
  var isHandshake: Bool {
    method == .GET && version == .http1_1
      && headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
      && !headers.contains(name: "Content-Length")
      && !headers.contains(name: "Transfer-Encoding")
  }
}

extension TransportLimits {
  /// The limits of a request for the HTTP decoder.
  var decoderConfiguration: NIOHTTPDecoderLimitConfiguration {
    var configuration = NIOHTTPDecoderLimitConfiguration()
    configuration.maxHeaderFieldSize = headerBytes
    configuration.maxHeaderListSize = headerBytes
    configuration.maxHeaderFieldCount = headerLines
    return configuration
  }
}
