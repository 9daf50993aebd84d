import NIOCore
import NIOPosix
import RealtimeServer
import TLSTestSupport
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("The end of a client's side without a close_notify", .timeLimit(.minutes(1)))
struct RaggedEndTests {
  /// Ends this side below TLS when it is asked to.
  private final class Ender: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = ByteBuffer

    struct End: Sendable {}

    func triggerUserOutboundEvent(
      context: ChannelHandlerContext,
      event: Any,
      promise: EventLoopPromise<Void>?
    ) {
      context.close(mode: .output, promise: promise)
    }
  }

  @Test("does not keep it from its answer")
  func answer() async throws {
    let certificates = try Certificates()
    let files = try certificates.files(try certificates.authority.issue())
    let listener = try await ServerListener.listen(
      at: .tcp(host: "127.0.0.1", port: 0, isSecure: true),
      certificate: ServerCertificate(chain: files.certificateChain, key: files.privateKey),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      handlers: ServerHandlers(
        answer: { request, loop in
          // The answer comes once the end is known.
          let reply = loop.makePromise(of: HTTPReply.self)
          loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { task in
            guard request.reader?.isGone != false else { return }
            task.cancel()
            reply.succeed(.answer(HTTPAnswer(status: 200, contentType: nil, body: request.body)))
          }
          return reply.futureResult
        },
        accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
      )
    ).get()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let tls = try ClientTLS(trusting: certificates.trust)
    let collected = loop.makePromise(of: EventLoopPromise<String>.self)
    let channel = try await ClientBootstrap(group: loop)
      .channelOption(.allowRemoteHalfClosure, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let collector = RawPeer.Collector(loop: channel.eventLoop)
          collected.succeed(collector.end)
          try channel.pipeline.syncOperations.addHandler(Ender())
          try tls.secure(channel, to: "localhost")
          try channel.pipeline.syncOperations.addHandler(collector)
        }
      }
      .connect(host: "127.0.0.1", port: listener.port).get()
    let request = "PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nstored"
    try await channel.writeAndFlush(ByteBuffer(string: request))
    try await channel.triggerUserOutboundEvent(Ender.End())
    let answer = try await collected.futureResult.get().futureResult.get()
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("stored"))
    try await listener.close().get()
  }
}
