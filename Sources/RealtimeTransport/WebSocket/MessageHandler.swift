internal import NIOCore
internal import NIOWebSocket
internal import RealtimeProtocol

/// The only handler of an open connection: bytes on one side, messages on the other.
///
/// State: open → closing (a goodbye was sent, its answer is awaited) → closed. Everything happens
/// on the event loop of the channel. `onEnd` is called once, when the channel has closed.
final class MessageHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Which end of the connection this is; a client masks, a server does not.
  enum Role {
    case client
    case server
  }

  private enum Phase {
    case open
    case closing
    case closed
  }

  private let role: Role
  private let limits: Shared<TransportLimits>
  private let peerName: String
  private let socket: SocketWriter?
  private let endOfTick: OutputTick?
  private let onMessage: ([UInt8]) -> Void
  private let onEnd: (ConnectionEnd) -> Void
  private var phase = Phase.open
  private var end: ConnectionEnd?
  private var context: ChannelHandlerContext?
  private var output: OutputQueue?
  private var decoder: FrameDecoder
  private var assembler: FrameAssembler
  private var fragments: FragmentBuffer
  private var reassembly: Scheduled<Void>?
  private var goodbye: Scheduled<Void>?

  init(
    role: Role,
    limits: Shared<TransportLimits>,
    peerName: String,
    socket: SocketWriter? = nil,
    endOfTick: OutputTick? = nil,
    onMessage: @escaping ([UInt8]) -> Void,
    onEnd: @escaping (ConnectionEnd) -> Void
  ) {
    self.role = role
    self.limits = limits
    self.peerName = peerName
    self.socket = socket
    self.endOfTick = endOfTick
    self.onMessage = onMessage
    self.onEnd = onEnd
    decoder = FrameDecoder(byteLimit: limits.frameBytes, isMasked: role == .server)
    assembler = FrameAssembler(
      segmentLimit: limits.messageFrames,
      byteLimit: limits.messageBytes
    )
    fragments = FragmentBuffer(byteLimit: limits.messageBytes)
  }

  // MARK: Sending

  /// Sends a message, cut into frames.
  func send(_ message: [UInt8]) {
    guard phase == .open else { return }
    var buffer = ByteBuffer()
    for frame in FrameAssembler.frames(of: message) {
      FrameEncoder.append(.text, frame, mask: mask(), to: &buffer)
    }
    output?.append(buffer)
  }

  /// Sends frames that are encoded already; a server's only.
  func send(_ message: EncodedMessage) {
    guard phase == .open else { return }
    output?.append(message.frames)
  }

  /// Whether so much waits for the other end that less should be sent.
  var isCongested: Bool { output?.isCongested ?? false }

  /// Calls a closure once, as soon as the other end has caught up.
  func whenRelieved(_ body: @escaping () -> Void) {
    output?.whenRelieved(body)
  }

  /// Says goodbye, waits a little for the answer, and closes.
  func close(code: UInt16, end: ConnectionEnd) {
    guard phase == .open, let context else { return }
    self.end = end
    phase = .closing
    sendControl(.connectionClose, Self.payload(code: code))
    output?.flush()
    goodbye = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
      self.closeChannel()
    }
  }

  /// Stops or resumes reading, so that the other end has to wait.
  func setReading(_ isReading: Bool) {
    guard let context else { return }
    _ = try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
    if isReading { context.read() }
  }

  private func sendControl(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
    var buffer = ByteBuffer()
    FrameEncoder.append(opcode, payload, mask: mask(), to: &buffer)
    output?.append(buffer)
  }

  private func mask() -> UInt32? {
    switch role {
    case .client: UInt32.random(in: 0...UInt32.max)
    case .server: nil
    }
  }

  private static func payload(code: UInt16) -> [UInt8] {
    [UInt8(code >> 8), UInt8(code & 0xFF)]
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    output = OutputQueue(
      limits: limits,
      context: context,
      socket: socket,
      endOfTick: endOfTick
    ) { reason in
      // The end of the connection takes the queue away, and this with it.
      self.fail(.slowConsumer, code: nil, "is too slow: \(reason)")
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    output?.writabilityChanged()
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(.lost, code: nil, "was lost: \(FailureText.describe(error))")
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    decoder.append(Self.unwrapInboundIn(data))
    do throws(FrameDecoder.Violation) {
      while phase != .closed, let frame = try decoder.next() { receive(frame) }
    } catch {
      switch error {
      case .tooLong:
        let limit = limits.frameBytes
        fail(.protocolViolation, code: 1_009, "sent a frame of more than \(limit) bytes")
      case .wrongFlags: fail(.protocolViolation, code: 1_002, "sent a frame with wrong flags")
      case .wrongControl:
        fail(.protocolViolation, code: 1_002, "sent a control frame that breaks the protocol")
      }
    }
  }

  // MARK: Receiving

  private func receive(_ frame: FrameDecoder.Frame) {
    switch frame.opcode {
    case .ping: if phase == .open { sendControl(.pong, frame.payload) }
    case .pong: break
    case .connectionClose: receiveGoodbye(frame.payload)
    case .text, .binary, .continuation:
      receive(frame.opcode, frame.payload, isFinal: frame.isFinal)
    default: fail(.protocolViolation, code: 1_002, "sent a frame of an unknown kind")
    }
  }

  private func receive(_ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool) {
    guard phase == .open else { return }
    guard fragments.isInPlace(opcode) else {
      return fail(.protocolViolation, code: 1_002, "sent a fragment out of place")
    }
    do throws(MessageError) {
      guard let text = try fragments.receive(opcode, payload, isFinal: isFinal),
        let message = try assembler.receive(text)
      else {
        watchReassembly()
        return
      }
      watchReassembly()
      onMessage(message)
    } catch {
      fail(.protocolViolation, code: 1_009, "broke the protocol: \(error)")
    }
  }

  /// Lets no message stay unfinished for longer than allowed.
  private func watchReassembly() {
    let isUnfinished = assembler.isAssembling || fragments.isAssembling
    guard isUnfinished else {
      reassembly?.cancel()
      reassembly = nil
      return
    }
    guard reassembly == nil, let context else { return }
    reassembly = context.eventLoop.assumeIsolated().scheduleTask(in: limits.reassembly) {
      self.fail(.protocolViolation, code: 1_008, "did not finish a message in time")
    }
  }

  private func receiveGoodbye(_ payload: [UInt8]) {
    let code = payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1_005
    if phase == .open {
      end = ConnectionEnd(.closedByPeer(code: code), "\(peerName) closed the connection (\(code))")
      sendControl(.connectionClose, code == 1_005 ? [] : Self.payload(code: code))
      phase = .closing
      output?.flush()
    }
    closeChannel()
  }

  // MARK: Ending

  /// Closes at once; with a code, after telling the other end.
  private func fail(_ kind: ConnectionEnd.Kind, code: UInt16?, _ what: String) {
    guard phase != .closed else { return }
    end = end ?? ConnectionEnd(kind, "\(peerName) \(what)")
    if let code, phase == .open {
      sendControl(.connectionClose, Self.payload(code: code))
      output?.flush()
    }
    closeChannel()
  }

  private func closeChannel() {
    phase = .closed
    output?.close()
    context?.close(promise: nil)
  }

  private func finish() {
    guard context != nil else { return }
    context = nil
    phase = .closed
    output?.close()
    output = nil
    reassembly?.cancel()
    goodbye?.cancel()
    onEnd(end ?? ConnectionEnd(.lost, "\(peerName) closed the connection without a goodbye"))
  }
}
