internal import NIOCore
internal import NIOHTTP1

extension HTTPClient {
  /// Opens a stream of server-sent events.
  ///
  /// The client's timeout applies only to connecting; the stream has none. The stream ends when the
  /// server ends it, and the connection closes when the reading task ends.
  ///
  /// - Parameter request: The request; the Accept header is added.
  /// - Returns: The events; the sequence throws ``HTTPClientError`` if the server sends no stream.
  package func events(
    of request: HTTPClientRequest
  ) -> AsyncThrowingStream<ServerSentEvent, any Error> {
    AsyncThrowingStream { continuation in
      let channel = connect(to: request.target, on: eventLoop) { _ in
        EventStreamHandler(
          server: request.target.description,
          limit: bodyBytes,
          onEvent: { continuation.yield($0) },
          onEnd: { continuation.finish(throwing: $0) }
        )
      }
      continuation.onTermination = { _ in
        channel.whenSuccess { $0.close(promise: nil) }
      }
      channel.whenFailure { continuation.finish(throwing: $0) }
      channel.whenSuccess { channel in
        var head = request.head
        head.headers.replaceOrAdd(name: "Accept", value: "text/event-stream")
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      }
    }
  }
}

/// An event of a `text/event-stream`.
package struct ServerSentEvent: Hashable, Sendable {
  /// The kind of event, such as "put".
  package var name: String
  /// The data, with its lines joined by newlines.
  package var data: String
}

/// Splits the body of an endless response into events.
private final class EventStreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let server: String
  /// The longest event, in bytes.
  private let limit: Int
  private let onEvent: (ServerSentEvent) -> Void
  private let onEnd: ((any Error)?) -> Void
  private var line: [UInt8] = []
  private var name = ""
  private var data: [String] = []

  init(
    server: String,
    limit: Int,
    onEvent: @escaping (ServerSentEvent) -> Void,
    onEnd: @escaping ((any Error)?) -> Void
  ) {
    self.server = server
    self.limit = limit
    self.onEvent = onEvent
    self.onEnd = onEnd
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head):
      guard head.status == .ok else {
        return end(.lost, because: "sent no event stream (\(head.status.code))", in: context)
      }
    case .body(let bytes):
      for byte in bytes.readableBytesView {
        if byte == UInt8(ascii: "\n") {
          finishLine()
        } else {
          line.append(byte)
        }
      }
      if line.count > limit {
        end(.tooLarge, because: "sent an event of more than \(limit) bytes", in: context)
      }
    case .end: context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    onEnd(nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(.lost, because: "broke off the stream: \(FailureText.describe(error))", in: context)
  }

  private func end(
    _ kind: HTTPClientError.Kind,
    because what: String,
    in context: ChannelHandlerContext
  ) {
    onEnd(HTTPClientError(kind, description: "\(server) \(what)"))
    context.close(promise: nil)
  }

  /// Processes a line: an empty line ends an event, and any other is a field, a colon and a value.
  private func finishLine() {
    let text = String(
      decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...],
      as: UTF8.self
    )
    line.removeAll(keepingCapacity: true)
    if text.isEmpty {
      if !name.isEmpty || !data.isEmpty {
        onEvent(ServerSentEvent(name: name, data: data.joined(separator: "\n")))
      }
      name = ""
      data = []
      return
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var value = parts.count > 1 ? parts[1] : ""
    if value.first == " " { value = value.dropFirst() }
    switch parts[0] {
    case "event": name = String(value)
    case "data": data.append(String(value))
    default: break
    }
  }
}
