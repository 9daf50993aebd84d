internal import NIOCore
internal import NIOWebSocket
internal import RealtimeCore

/// The only handler of an open connection: bytes on one side, messages on the other.
///
/// State: open → closing (a goodbye was sent, its answer is awaited) → closed. Everything happens
/// on the event loop of the channel. `onEnd` is called once, when the channel has closed. What is read
/// while reading is stopped waits in the decoder, as does what a message is not promised memory for.
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
  let limits: Shared<TransportLimits>
  private let peerName: String
  private let socket: SocketWriter?
  private let endOfTick: OutputTick?
  let memory: ConnectionMemory?
  private let onMessage: ([UInt8]) -> Void
  private let onExcess: ((Int64) -> Void)?
  private let onEnd: (ConnectionEnd) -> Void
  private var phase = Phase.open
  private var end: ConnectionEnd?
  private var context: ChannelHandlerContext?
  private var output: OutputQueue?
  private var decoder: FrameDecoder
  var assembler: FrameAssembler
  var fragments: FragmentBuffer
  private var reassembly: Scheduled<Void>?
  private var goodbye: Scheduled<Void>?
  /// A message that is too long, while it passes by.
  private var excess: ExcessMessage?
  /// What it is promised for what it sends; nil as long as it needed nothing.
  var holder: InputPromises.Holder?
  /// Whether it is one of those who have not signed in.
  var isStranger = true
  /// Whether the owner wants to be told of what comes.
  private var isReading = true
  /// Whether the message that has begun must wait for memory.
  var waitsForMemory = false
  private var isDecoding = false

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - role: Which end this is.
  ///   - limits: The bounds of the connection.
  ///   - peerName: What the other end is called in the reason of the end.
  ///   - socket: Where frames can be written past the channel.
  ///   - endOfTick: What flushes the output together with that of others.
  ///   - memory: What the connections share; nil for no bounds but those of this one.
  ///   - onMessage: Takes each message.
  ///   - onExcess: Takes the number of each request that is longer than allowed, once its message has
  ///     passed by unread; without it such a message ends the connection.
  ///   - onEnd: Takes the end.
  init(
    role: Role,
    limits: Shared<TransportLimits>,
    peerName: String,
    socket: SocketWriter? = nil,
    endOfTick: OutputTick? = nil,
    memory: ConnectionMemory? = nil,
    onMessage: @escaping ([UInt8]) -> Void,
    onExcess: ((Int64) -> Void)? = nil,
    onEnd: @escaping (ConnectionEnd) -> Void
  ) {
    self.role = role
    self.limits = limits
    self.peerName = peerName
    self.socket = socket
    self.endOfTick = endOfTick
    self.memory = memory
    self.onMessage = onMessage
    self.onExcess = onExcess
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
    for piece in message.rest { output?.append(piece, goesOn: true) }
  }

  /// Whether more waits for the other end than what small answers have.
  var hasNotableOutput: Bool { output?.hasNotableOutput ?? false }

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
    readingChanged()
    goodbye = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
      self.closeChannel()
    }
  }

  /// Stops or resumes reading, so that the other end has to wait.
  ///
  /// What has been read already waits as well.
  func setReading(_ isReading: Bool) {
    guard self.isReading != isReading else { return }
    self.isReading = isReading
    readingChanged()
  }

  /// Says what the other end may send from the next message on.
  ///
  /// - Parameters:
  ///   - isStranger: Whether it has the memory of those who have not signed in.
  ///   - messageBytes: The longest message.
  func allow(isStranger: Bool, messageBytes: Int) {
    self.isStranger = isStranger
    assembler.byteLimit = messageBytes
    fragments.byteLimit = messageBytes
  }

  private var mayRead: Bool { isReading && !waitsForMemory || phase == .closing }

  func readingChanged() {
    guard let context else { return }
    _ = try? context.channel.syncOptions?.setOption(.autoRead, value: mayRead)
    guard mayRead else { return }
    context.read()
    guard !isDecoding, decoder.hasBytes else { return }
    // Whoever calls this may be in the middle of something.
    context.eventLoop.assumeIsolated().execute { self.decode() }
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
      endOfTick: endOfTick,
      memory: memory
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
    let bytes = Self.unwrapInboundIn(data)
    holder?.received(bytes.readableBytes)
    decoder.append(bytes)
    decode()
  }

  /// Takes the frames that have been read, as long as nothing has to wait.
  private func decode() {
    guard !isDecoding else { return }
    isDecoding = true
    defer { isDecoding = false }
    do throws(FrameDecoder.Violation) {
      while phase != .closed, mayRead, let frame = try decoder.next() { receive(frame) }
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
    // Who does not read pongs need not get all of them.
    case .ping: if phase == .open, !isCongested { sendControl(.pong, frame.payload) }
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
    guard excess == nil else {
      let (isText, isEnd) = fragments.skip(opcode, isFinal: isFinal)
      if isText { pass(payload, isEnd: isEnd) }
      return
    }
    var part = payload
    do throws(MessageError) {
      guard let text = try fragments.receive(opcode, payload, isFinal: isFinal) else {
        return messageBegan()
      }
      part = text
      guard let message = try assembler.receive(text) else { return messageBegan() }
      watchReassembly()
      holder?.isComplete = true
      onMessage(message)
      if let holder { memory?.input.release(holder) }
    } catch {
      guard onExcess != nil else {
        return fail(.protocolViolation, code: 1_009, "broke the protocol: \(error)")
      }
      beginSkipping(opcode, part, isFinal: isFinal, error)
    }
  }

  private func messageBegan() {
    watchReassembly()
    askForMemory()
  }

  /// Lets no message stay unfinished for longer than allowed; one that is skipped has to go on.
  private func watchReassembly() {
    let isUnfinished = assembler.isAssembling || fragments.isAssembling || excess != nil
    guard isUnfinished else {
      reassembly?.cancel()
      reassembly = nil
      return
    }
    guard reassembly == nil, let context else { return }
    excess?.hasProgressed = false
    reassembly = context.eventLoop.assumeIsolated().scheduleTask(in: limits.reassembly) {
      self.reassembly = nil
      guard self.excess?.hasProgressed != true else { return self.watchReassembly() }
      self.fail(.protocolViolation, code: 1_008, "did not finish a message in time")
    }
  }

  // MARK: What is too long

  private func beginSkipping(
    _ opcode: WebSocketOpcode,
    _ part: [UInt8],
    isFinal: Bool,
    _ error: MessageError
  ) {
    let isAnnouncement = assembler.announcedFrames > limits.messageFrames
    let isFirst = !assembler.isAssembling
    let (assembled, frames) = assembler.giveUp()
    excess = ExcessMessage(frames: isFirst ? 1 : frames, reason: error.description)
    excess?.pass(assembled + fragments.giveUp())
    _ = fragments.skip(opcode, isFinal: isFinal)
    if let holder { memory?.input.release(holder) }
    if isAnnouncement { watchReassembly() } else { pass(part, isEnd: isFinal) }
  }

  private func pass(_ payload: [UInt8], isEnd: Bool) {
    excess?.pass(payload)
    if isEnd { excess?.framesToCome -= 1 }
    defer { watchReassembly() }
    guard let excess, excess.framesToCome <= 0 else { return }
    self.excess = nil
    guard let id = excess.skimmer.requestID else {
      return fail(.protocolViolation, code: 1_009, "broke the protocol: \(excess.reason)")
    }
    onExcess?(id)
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
  func fail(_ kind: ConnectionEnd.Kind, code: UInt16?, _ what: String) {
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
    if let holder { memory?.input.release(holder) }
    holder = nil
    onEnd(end ?? ConnectionEnd(.lost, "\(peerName) closed the connection without a goodbye"))
  }
}
