internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// NIO's WebSocket handshake without NIO's frame handlers.
///
/// ``MessageHandler`` decodes the frames itself, so the bytes pass through no other handler.
enum FrameUpgrade {
  struct Server: NIOTypedHTTPServerProtocolUpgrader {
    private let handshake: NIOTypedWebSocketServerUpgrader<Void>
    private let open: @Sendable (any Channel, HTTPRequestHead) throws -> Void

    init(
      admit: @escaping @Sendable (any Channel, HTTPRequestHead) -> EventLoopFuture<HTTPHeaders?>,
      open: @escaping @Sendable (any Channel, HTTPRequestHead) throws -> Void
    ) {
      self.open = open
      handshake = NIOTypedWebSocketServerUpgrader(shouldUpgrade: admit) { channel, head in
        channel.eventLoop.makeCompletedFuture { try open(channel, head) }
      }
    }

    var supportedProtocol: String { handshake.supportedProtocol }
    var requiredUpgradeHeaders: [String] { handshake.requiredUpgradeHeaders }

    func buildUpgradeResponse(
      channel: any Channel,
      upgradeRequest: HTTPRequestHead,
      initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
      handshake.buildUpgradeResponse(
        channel: channel,
        upgradeRequest: upgradeRequest,
        initialResponseHeaders: initialResponseHeaders
      )
    }

    func upgrade(
      channel: any Channel,
      upgradeRequest: HTTPRequestHead
    ) -> EventLoopFuture<Void> {
      channel.eventLoop.makeCompletedFuture { try open(channel, upgradeRequest) }
    }
  }

  struct Client: NIOTypedHTTPClientProtocolUpgrader {
    private let handshake: NIOTypedWebSocketClientUpgrader<Void>
    private let open: @Sendable (any Channel) throws -> Void

    /// Makes an upgrade whose closure adds the message handler.
    init(open: @escaping @Sendable (any Channel) throws -> Void) {
      self.open = open
      handshake = NIOTypedWebSocketClientUpgrader { channel, _ in
        channel.eventLoop.makeCompletedFuture { try open(channel) }
      }
    }

    var supportedProtocol: String { handshake.supportedProtocol }
    var requiredUpgradeHeaders: [String] { handshake.requiredUpgradeHeaders }

    func addCustom(upgradeRequestHeaders: inout HTTPHeaders) {
      handshake.addCustom(upgradeRequestHeaders: &upgradeRequestHeaders)
    }

    func shouldAllowUpgrade(upgradeResponse: HTTPResponseHead) -> Bool {
      handshake.shouldAllowUpgrade(upgradeResponse: upgradeResponse)
    }

    func upgrade(
      channel: any Channel,
      upgradeResponse: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
      channel.eventLoop.makeCompletedFuture { try open(channel) }
    }
  }
}
