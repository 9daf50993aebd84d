internal import NIOCore
internal import NIOHTTP1

/// Reads the HTTP answer of something that did not agree to a WebSocket.
final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private static let bodyBytes = 512

  private let target: ConnectionTarget
  private let onRefusal: (ConnectionEnd) -> Void
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []
  private var isReported = false

  init(target: ConnectionTarget, onRefusal: @escaping (ConnectionEnd) -> Void) {
    self.target = target
    self.onRefusal = onRefusal
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let part):
      body.append(contentsOf: part.readableBytesView.prefix(Self.bodyBytes - body.count))
      if body.count == Self.bodyBytes { report() }
    case .end: report()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    report()
    context.fireChannelInactive()
  }

  private func report() {
    guard !isReported, let head else { return }
    isReported = true
    let status = Int(head.status.code)
    // A database server explains itself in JSON; anything else on the port does not.
    guard head.headers.first(name: "Content-Type")?.hasPrefix("application/json") == true else {
      onRefusal(
        ConnectionEnd(
          .notADatabaseServer,
          "\(target) is answered by something that is not a database server (HTTP \(status))"
        )
      )
      return
    }
    let text = String(decoding: body.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    onRefusal(
      ConnectionEnd(.refused(status: status), "\(target) refused: HTTP \(status) \(text)")
    )
  }
}
