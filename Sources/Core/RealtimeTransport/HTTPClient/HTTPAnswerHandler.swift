internal import NIOCore
internal import NIOHTTP1

/// Gathers one answer.
final class HTTPAnswerHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let bodyBytes: Int
  private let onAnswer: (HTTPClientAnswer) -> Void
  private let onFailure: (HTTPClientError.Kind, String) -> Void
  private var answer: HTTPClientAnswer?

  /// Makes a handler; what comes after the first end, good or bad, is left to the closures to ignore.
  ///
  /// - Parameters:
  ///   - bodyBytes: The longest body that is taken.
  ///   - onAnswer: Takes the answer.
  ///   - onFailure: Takes the reason why there is none, in words that follow the name of the server.
  init(
    bodyBytes: Int,
    onAnswer: @escaping (HTTPClientAnswer) -> Void,
    onFailure: @escaping (HTTPClientError.Kind, String) -> Void
  ) {
    self.bodyBytes = bodyBytes
    self.onAnswer = onAnswer
    self.onFailure = onFailure
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head):
      answer = HTTPClientAnswer(
        status: Int(head.status.code),
        headerLines: head.headers.map { HTTPAnswer.HeaderLine($0.name, $0.value) }
      )
    case .body(let bytes):
      let count = (answer?.body.count ?? 0) + bytes.readableBytes
      guard count <= bodyBytes else {
        return onFailure(.tooLarge, "answered with more than \(bodyBytes) bytes")
      }
      answer?.body.append(contentsOf: bytes.readableBytesView)
    case .end: if let answer { onAnswer(answer) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case let error as TLSFailure: onFailure(.insecure(error.kind), error.description)
    case HTTPParserError.invalidEOFState: onFailure(.lost, "broke off in the middle of its answer")
    case is HTTPParserError: onFailure(.notHTTP, "does not speak HTTP (\(error))")
    default: onFailure(.lost, "broke the connection off: \(FailureText.describe(error))")
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    onFailure(.lost, "closed the connection before its answer was complete")
    context.fireChannelInactive()
  }
}
