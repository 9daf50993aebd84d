import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import RealtimeCore

@testable import RealtimeServer
@testable import RealtimeTransport

/// Whatever a connection receives, it responds with HTTP, with frames, or by closing.
enum ConnectionCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let whole = answer(to: [input])
    let start = Array("HTTP/1.1 ".utf8)
    try demand(
      whole.isEmpty || whole.starts(with: start),
      "the answer is not HTTP: \(String(decoding: whole.prefix(80), as: UTF8.self))"
    )
    let middle = input.count / 2
    let cut = answer(to: [Array(input[..<middle]), Array(input[middle...])])
    // How much of a goodbye is sent before the connection ends may differ.
    try demand(
      whole.starts(with: cut) || cut.starts(with: whole),
      "the answer depends on where the input is cut: \(text(whole)) \(text(cut))"
    )
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix(200), as: UTF8.self).debugDescription
  }

  /// What a listener's pipeline writes when it reads the pieces of an input.
  private static func answer(to pieces: [[UInt8]]) -> [UInt8] {
    let channel = EmbeddedChannel()
    let acceptor = ConnectionAcceptor(
      limits: Shared(.server),
      policy: RequestPolicy(),
      handlers: handlers,
      user: 0,
      connections: OpenConnections(),
      certificate: NIOLockedValueBox(nil),
      memory: nil,
      endOfTick: NIOLoopBoundBox(OutputTick(channel.eventLoop), eventLoop: channel.eventLoop),
      plainConnections: NIOLoopBoundBox([:], eventLoop: channel.eventLoop)
    )
    acceptor.initialize(channel, at: .loopback(port: 0))
      .whenFailure { _ in channel.close(promise: nil) }
    if let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1) {
      channel.connect(to: address, promise: nil)
    }
    var answer: [UInt8] = []
    for piece in pieces where channel.isActive {
      // A protocol violation ends the connection, and is reported to the embedded loop as well.
      _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
      channel.embeddedEventLoop.run()
    }
    while let bytes = try? channel.readOutbound(as: ByteBuffer.self) {
      answer += bytes.readableBytesView
    }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    return answer
  }

  /// Echoes messages, and answers REST requests with a description of how they were understood.
  private static var handlers: ServerHandlers {
    ServerHandlers(
      answer: { request, loop in
        loop.makeSucceededFuture(.answer(understand(request)))
      },
      accept: { connection in
        ServerHandlers.Callbacks(
          onMessage: { connection.send(EncodedMessage($0)) },
          onClose: { _ in }
        )
      }
    )
  }

  private static func understand(_ request: HTTPRequest) -> HTTPAnswer {
    do throws(RESTError) {
      let sender = Result { () throws(RESTError) in try RESTCredential(request) }
      guard let rest = try RESTRequest(request, from: sender) else { return .notREST }
      let write = try rest.write()
      return rest.options.answer(.string("\(rest.method) \(rest.path) \(write == nil)"))
    } catch {
      return error.answer
    }
  }
}
