internal import NIOCore
internal import NIOHTTP1

/// Cuts the body of one endless answer into events.
final class EventStreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let server: String
  /// The longest event that is taken.
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
        onEnd(HTTPClientError(.lost, "\(server) gives no stream of events (\(head.status.code))"))
        return context.close(promise: nil)
      }
    case .body(let bytes):
      for byte in bytes.readableBytesView {
        if byte == UInt8(ascii: "\n") {
          takeLine()
        } else {
          line.append(byte)
        }
      }
      if line.count > limit {
        onEnd(HTTPClientError(.tooLarge, "\(server) sent an event of more than \(limit) bytes"))
        context.close(promise: nil)
      }
    case .end: context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    onEnd(nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    onEnd(HTTPClientError(.lost, "\(server) broke the stream off: \(FailureText.describe(error))"))
    context.close(promise: nil)
  }

  /// An empty line ends an event; others are a field, a colon and a value.
  private func takeLine() {
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
