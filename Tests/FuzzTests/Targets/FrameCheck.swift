import NIOCore
import NIOEmbedded
import RealtimeCore

@testable import RealtimeTransport

/// Frames mean the same however the network splits them, and what is sent arrives unchanged.
enum FrameCheck {
  /// The outcome of a connection.
  private struct Outcome: Equatable {
    var messages: [[UInt8]] = []
    var ends: [String] = []
    var answered: [UInt8] = []
  }

  private final class Log {
    var outcome = Outcome()
  }

  private static let limits = TransportLimits(
    frameBytes: 2_048,
    messageBytes: 4_096,
    messageFrames: 64,
    handshake: .seconds(10)
  )

  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    for role in [MessageHandler.Role.server, .client] {
      let whole = receive([input], as: role)
      let middle = input.count / 2
      try demand(
        whole == receive([Array(input[..<middle]), Array(input[middle...])], as: role),
        "an input means something else when it is cut in two"
      )
      if input.count <= 256 {
        try demand(
          whole == receive(input.map { [$0] }, as: role),
          "an input means something else when it comes byte by byte"
        )
      }
      try demand(
        whole.messages.allSatisfy { $0.count <= limits.messageBytes },
        "a message is longer than the limit"
      )
      try demand(whole.ends.count == 1, "a connection ended \(whole.ends.count) times")
    }
    try checkSending(input)
  }

  /// Makes a connection read an input in pieces.
  private static func receive(_ pieces: [[UInt8]], as role: MessageHandler.Role) -> Outcome {
    let log = Log()
    let channel = EmbeddedChannel(
      handler: MessageHandler(
        role: role,
        limits: Shared(limits),
        peer: "peer",
        onMessage: { log.outcome.messages.append($0) },
        onEnd: { log.outcome.ends.append($0.description) }
      )
    )
    if let address = try? SocketAddress(unixDomainSocketPath: "/none") {
      channel.connect(to: address, promise: nil)
    }
    for piece in pieces where channel.isActive {
      // A violation is reported as the end of the connection, and to the embedded loop as well.
      _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
    }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    if role == .server {
      while let bytes = try? channel.readOutbound(as: ByteBuffer.self) {
        log.outcome.answered += bytes.readableBytesView
      }
    }
    return log.outcome
  }

  /// Sends an input as a message that cannot be taken for a count of segments, and checks that it
  /// arrives.
  private static func checkSending(_ input: [UInt8]) throws(BrokenProperty) {
    let message = [UInt8(ascii: "{")] + input
    var assembler = FrameAssembler()
    var received: [[UInt8]] = []
    do throws(MessageError) {
      for frame in FrameAssembler.frames(of: message, segmentUnits: 64) {
        if let message = try assembler.receive(frame) { received.append(message) }
      }
    } catch {
      throw BrokenProperty("what was cut into segments is refused: \(error)")
    }
    try demand(received == [message], "segments do not add up to the message")
    let outcome = receive([Array(EncodedMessage(message).frames.readableBytesView)], as: .client)
    let isShort = message.count <= limits.frameBytes
    try demand(!isShort || outcome.messages == [message], "a frame does not carry its message")
  }
}
