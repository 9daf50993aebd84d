internal import NIOCore
internal import NIOWebSocket
internal import RealtimeCore

/// The only handler of an open connection; it translates between bytes and messages.
///
/// State: open → closing (a close frame was sent, the reply is awaited) → closed. Everything
/// happens on the event loop of the channel. `onEnd` is called once, when the channel has closed.
/// Input that arrives while reading is paused, or before memory is promised to it, waits in the
/// decoder.
final class MessageHandler: ConnectionHandler {
  typealias InboundIn = ByteBuffer

  /// Which end of the connection this is; a client masks, a server does not.
  enum Role {
    case client
    case server
  }

  private enum Phase {
    case open
    case closing(ConnectionEnd)
    case closed(ConnectionEnd?)
  }

  /// Why nothing is read.
  private struct Pauses: OptionSet {
    let rawValue: UInt8

    /// The owner wants no input.
    static let owner = Pauses(rawValue: 1 << 0)
    /// The current message must wait for memory.
    static let memory = Pauses(rawValue: 1 << 1)
    /// The other end has sent too many empty frames.
    static let rest = Pauses(rawValue: 1 << 2)
  }

  private struct Incoming {
    var assembler: FrameAssembler
    var fragments: FragmentBuffer
    /// The message that is being skipped because it is too long.
    var excess: ExcessMessage?
    var deadline: Scheduled<Void>?

    var isUnfinished: Bool {
      assembler.isAssembling || fragments.isAssembling || excess != nil
    }
  }

  /// The empty frames that the other end may send.
  private struct EmptyFrames {
    private var all = Allowance(burst: 64, interval: .milliseconds(100))
    /// Those that are nobody else's business: what a client sends that means no harm.
    private var own = Allowance(burst: 8, interval: .seconds(5))

    /// Counts a frame, beyond its own allowance for the network too, and returns how long to rest.
    mutating func rest(
      at now: NIODeadline,
      ofNetwork network: (NIODeadline) -> TimeAmount?
    ) -> TimeAmount? {
      let isModest = own.rest(at: now) == nil
      return [all.rest(at: now), isModest ? nil : network(now)].compactMap(\.self).max()
    }
  }

  private let role: Role
  private let limits: Shared<TransportLimits>
  private let peer: any CustomStringConvertible
  private let socket: SocketWriter?
  private let endOfTick: OutputTick?
  private let memory: ConnectionMemory?
  private let onRead: ((Int) -> Void)?
  private let onMessage: ([UInt8]) -> Void
  private let onExcess: ((Int64) -> Void)?
  private let onEnd: (ConnectionEnd) -> Void
  /// Counts an empty frame against what the other end's network may send, and returns how long to
  /// rest if that has been too much.
  private let restOfNetwork: (NIODeadline) -> TimeAmount?
  private var phase = Phase.open
  private var context: ChannelHandlerContext?
  private(set) var output: OutputQueue?
  private var decoder: FrameDecoder
  private var incoming: Incoming
  private var promise: PromisedInput
  private var pauses: Pauses = []
  private var isDecoding = false
  /// Whether a message has been sent since the last ``keepAlive()``.
  private var hasSpoken = true
  private var emptyFrames = EmptyFrames()

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - role: The end of the connection.
  ///   - limits: The limits of the connection.
  ///   - peer: The other end; its description begins those of the end.
  ///   - socket: Writes frames directly to the socket.
  ///   - endOfTick: Flushes the output together with that of other connections.
  ///   - memory: The memory that connections share; nil to share none and have no bounds.
  ///   - restOfNetwork: Counts an empty frame for the network of the other end, and returns how
  ///     long to rest if there have been too many.
  ///   - onRead: Receives the number of bytes of each read, before the messages in them.
  ///   - onMessage: Receives each message.
  ///   - onExcess: Receives the number of each request that is too long, once its message has been
  ///     skipped; if nil, such a message ends the connection.
  ///   - onEnd: Receives the end.
  init(
    role: Role,
    limits: Shared<TransportLimits>,
    peer: any CustomStringConvertible,
    socket: SocketWriter? = nil,
    endOfTick: OutputTick? = nil,
    memory: ConnectionMemory? = nil,
    restOfNetwork: @escaping (NIODeadline) -> TimeAmount? = { _ in nil },
    onRead: ((Int) -> Void)? = nil,
    onMessage: @escaping ([UInt8]) -> Void,
    onExcess: ((Int64) -> Void)? = nil,
    onEnd: @escaping (ConnectionEnd) -> Void
  ) {
    self.role = role
    self.limits = limits
    self.peer = peer
    self.socket = socket
    self.endOfTick = endOfTick
    self.memory = memory
    self.restOfNetwork = restOfNetwork
    self.onRead = onRead
    self.onMessage = onMessage
    self.onExcess = onExcess
    self.onEnd = onEnd
    decoder = FrameDecoder(byteLimit: limits.frameBytes, isMasked: role == .server)
    incoming = Incoming(
      assembler: FrameAssembler(
        segmentLimit: limits.messageFrames,
        byteLimit: limits.messageBytes
      ),
      fragments: FragmentBuffer(byteLimit: limits.messageBytes)
    )
    promise = PromisedInput(memory)
  }

  private var isOpen: Bool { if case .open = phase { true } else { false } }
  private var isClosed: Bool { if case .closed = phase { true } else { false } }

  private var end: ConnectionEnd? {
    switch phase {
    case .open: nil
    case .closing(let end): end
    case .closed(let end): end
    }
  }

  // MARK: Sending

  /// Sends a message, split into frames.
  func send(_ message: [UInt8]) {
    guard isOpen else { return }
    var buffer = ByteBuffer()
    for frame in FrameAssembler.frames(of: message) {
      FrameEncoder.append(.text, payload: frame, mask: mask(), to: &buffer)
    }
    output?.append(buffer)
  }

  /// Sends an encoded message; for servers only.
  func send(_ message: EncodedMessage) {
    guard isOpen else { return }
    hasSpoken = true
    output?.append(message.frames)
    for piece in message.rest { output?.append(piece, goesOn: true) }
  }

  /// Sends a ping if no message has been sent since the last call.
  func keepAlive() {
    if isOpen, !hasSpoken, !hasNotableOutput { sendControl(.ping, payload: []) }
    hasSpoken = false
  }

  var hasNotableOutput: Bool { output?.hasNotableOutput ?? false }

  /// Sends a close frame, from a server with the reason, waits briefly for the reply, and closes.
  func close(code: UInt16, end: ConnectionEnd) {
    guard isOpen, let context else { return }
    phase = .closing(end)
    let reason = role == .server ? end.description : ""
    sendControl(.connectionClose, payload: Self.payload(code: code, reason: reason))
    output?.flush()
    readingChanged()
    context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [weak self] in
      self?.closeChannel()
    }
  }

  /// Pauses or resumes reading, which applies backpressure to the other end.
  ///
  /// Input that has already been read is held back as well.
  func setReading(_ isReading: Bool) {
    if pauses.contains(.owner) == isReading { pause(!isReading, for: .owner) }
  }

  /// Sets the limits for the other end from the next message on; see ``MessageConnection``.
  func allow(isStranger: Bool, messageBytes: Int) {
    promise.isStranger = isStranger
    incoming.assembler.byteLimit = messageBytes
    incoming.fragments.byteLimit = messageBytes
  }

  private var mayRead: Bool {
    if case .closing = phase { true } else { pauses.isEmpty }
  }

  private func pause(_ isPaused: Bool, for reason: Pauses) {
    if isPaused { pauses.insert(reason) } else { pauses.remove(reason) }
    readingChanged()
  }

  private func readingChanged() {
    guard let context else { return }
    _ = try? context.channel.syncOptions?.setOption(.autoRead, value: mayRead)
    guard mayRead else { return }
    context.read()
    guard !isDecoding, decoder.hasBytes else { return }
    // Deferred, because the caller may be in the middle of a change.
    context.eventLoop.assumeIsolated().execute { self.decode() }
  }

  private func sendControl(_ opcode: WebSocketOpcode, payload: [UInt8]) {
    var buffer = ByteBuffer()
    FrameEncoder.append(opcode, payload: payload, mask: mask(), to: &buffer)
    output?.append(buffer)
  }

  private func mask() -> UInt32? {
    switch role {
    case .client: UInt32.random(in: 0...UInt32.max)
    case .server: nil
    }
  }

  /// A code and as much of the reason as a control frame has room for.
  private static func payload(code: UInt16, reason: String = "") -> [UInt8] {
    var bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
    for scalar in reason.unicodeScalars {
      let more = Array(scalar.utf8)
      guard bytes.count + more.count <= 125 else { break }
      bytes += more
    }
    return bytes
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
      // This is a reference cycle; it is broken when the connection ends and releases the queue.
      self.fail(.slowConsumer, because: "is too slow: \(reason)")
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(.lost, because: "was lost: \(FailureText.describe(error))")
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Self.unwrapInboundIn(data)
    onRead?(bytes.readableBytes)
    promise.received(bytes.readableBytes)
    decoder.append(bytes)
    decode()
  }

  /// Decodes frames until one has to wait.
  private func decode() {
    guard !isDecoding else { return }
    isDecoding = true
    defer { isDecoding = false }
    do throws(FrameDecoder.Violation) {
      while !isClosed, mayRead, let frame = try decoder.next() { receive(frame) }
    } catch {
      switch error {
      case .tooLong:
        let limit = limits.frameBytes
        fail(code: 1_009, because: "sent a frame of more than \(limit) bytes")
      case .wrongFlags: fail(code: 1_002, because: "sent a frame with invalid flags")
      case .wrongControl:
        fail(code: 1_002, because: "sent a control frame that breaks the protocol")
      }
    }
  }

  // MARK: Receiving

  private func receive(_ frame: FrameDecoder.Frame) {
    if role == .server { count(frame) }
    switch frame.opcode {
    // A client that does not read its pongs need not receive all of them.
    case .ping: if isOpen, !isCongested { sendControl(.pong, payload: frame.payload) }
    case .pong: break
    case .connectionClose: receiveGoodbye(frame.payload)
    case .text, .binary, .continuation:
      receive(frame.opcode, payload: frame.payload, isFinal: frame.isFinal)
    default: fail(code: 1_002, because: "sent a frame of an unknown kind")
    }
  }

  /// Counts a frame without content, and rests if there have been too many.
  ///
  /// Control frames and keep-alives cost their sender nothing, and the server as much as small
  /// messages. The frames that wait stay in the socket, at the expense of the other end. The clients
  /// of a network share an allowance beside their own, since anybody can have many connections.
  private func count(_ frame: FrameDecoder.Frame) {
    let isControl = frame.opcode == .ping || frame.opcode == .pong
    guard isControl || frame.payload.count <= 1, !pauses.contains(.rest), let context,
      let rest = emptyFrames.rest(at: context.eventLoop.now, ofNetwork: restOfNetwork)
    else { return }
    pause(true, for: .rest)
    context.eventLoop.assumeIsolated().scheduleTask(in: rest) { [weak self] in
      self?.pause(false, for: .rest)
    }
  }

  private func receive(_ opcode: WebSocketOpcode, payload: [UInt8], isFinal: Bool) {
    guard isOpen else { return }
    guard incoming.fragments.isInPlace(opcode) else {
      return fail(code: 1_002, because: "sent a fragment out of place")
    }
    guard incoming.excess == nil else {
      let (isText, isEnd) = incoming.fragments.skip(opcode, isFinal: isFinal)
      if isText { pass(payload, isEnd: isEnd) }
      return
    }
    var part = payload
    do throws(MessageError) {
      guard let text = try incoming.fragments.receive(opcode, payload: payload, isFinal: isFinal)
      else {
        return messageBegan()
      }
      part = text
      guard let message = try incoming.assembler.receive(text) else { return messageBegan() }
      watchReassembly()
      promise.complete()
      onMessage(message)
      promise.release()
    } catch {
      guard onExcess != nil else {
        return fail(code: 1_009, because: "broke the protocol: \(error)")
      }
      beginSkipping(opcode, part: part, isFinal: isFinal, because: error)
    }
  }

  private func messageBegan() {
    watchReassembly()
    askForMemory()
  }

  /// Limits how long a message may stay incomplete; a skipped message only has to make progress.
  private func watchReassembly() {
    guard incoming.isUnfinished else {
      incoming.deadline?.cancel()
      incoming.deadline = nil
      return
    }
    guard incoming.deadline == nil, let context else { return }
    incoming.excess?.hasProgressed = false
    incoming.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.reassembly) {
      self.incoming.deadline = nil
      guard self.incoming.excess?.hasProgressed != true else { return self.watchReassembly() }
      self.fail(code: 1_008, because: "did not finish a message in time")
    }
  }

  // MARK: Messages that are too long

  private func beginSkipping(
    _ opcode: WebSocketOpcode,
    part: [UInt8],
    isFinal: Bool,
    because error: MessageError
  ) {
    let isAnnouncement = incoming.assembler.announcedFrames > limits.messageFrames
    let isFirst = !incoming.assembler.isAssembling
    let (assembled, frames) = incoming.assembler.giveUp()
    var excess = ExcessMessage(framesToCome: isFirst ? 1 : frames, reason: error.description)
    excess.pass(assembled + incoming.fragments.giveUp())
    incoming.excess = excess
    _ = incoming.fragments.skip(opcode, isFinal: isFinal)
    promise.release()
    if isAnnouncement { watchReassembly() } else { pass(part, isEnd: isFinal) }
  }

  private func pass(_ payload: [UInt8], isEnd: Bool) {
    incoming.excess?.pass(payload)
    if isEnd { incoming.excess?.framesToCome -= 1 }
    defer { watchReassembly() }
    guard let excess = incoming.excess, excess.framesToCome <= 0 else { return }
    incoming.excess = nil
    guard let id = excess.skimmer.requestID else {
      return fail(code: 1_009, because: "broke the protocol: \(excess.reason)")
    }
    onExcess?(id)
  }

  private func receiveGoodbye(_ payload: [UInt8]) {
    let code = payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1_005
    if isOpen {
      let reason = String(decoding: payload.dropFirst(2), as: UTF8.self)
      phase = .closing(
        ConnectionEnd(
          .closedByPeer(code: code),
          description: "\(peer) closed the connection"
            + (reason.isEmpty ? " (\(code))" : ": \(reason)"),
          cause: reason.isEmpty ? nil : reason
        )
      )
      sendControl(.connectionClose, payload: code == 1_005 ? [] : Self.payload(code: code))
      output?.flush()
    }
    closeChannel()
  }

  // MARK: Ending

  /// Closes immediately; with a code, sends a close frame first.
  private func fail(
    _ kind: ConnectionEnd.Kind = .protocolViolation,
    code: UInt16? = nil,
    because what: String
  ) {
    guard !isClosed else { return }
    let end = end ?? ConnectionEnd(kind, description: "\(peer) \(what)")
    if let code, isOpen {
      phase = .closing(end)
      sendControl(.connectionClose, payload: Self.payload(code: code))
      output?.flush()
    }
    phase = .closed(end)
    closeChannel()
  }

  private func closeChannel() {
    phase = .closed(end)
    output?.close()
    context?.close(promise: nil)
  }

  func finish() {
    guard context != nil else { return }
    context = nil
    phase = .closed(end)
    output?.close()
    output = nil
    incoming.deadline?.cancel()
    promise.release()
    onEnd(
      end
        ?? ConnectionEnd(
          .lost,
          description: "\(peer) closed the connection without a close frame"
        )
    )
  }
}

// MARK: Memory

extension MessageHandler {
  /// Requests memory for a message that has begun; until it is granted, reading pauses.
  private func askForMemory() {
    guard let memory, !pauses.contains(.memory) else { return }
    let (share, limit) = (memory.bounds.share, incoming.assembler.byteLimit)
    let announced = min(limit, incoming.assembler.announcedFrames * limits.frameBytes)
    // The number of fragments in a frame is not announced.
    let arrived = incoming.fragments.assembledBytes + incoming.assembler.assembledBytes
    let bytes = arrived > max(share, announced) ? limit : announced
    guard bytes > share, bytes > promise.bytes else { return }
    let isPromised = promise.ask(
      bytes,
      whenRoom: { [weak self] in
        self?.incoming.assembler.reserve(bytes)
        self?.pause(false, for: .memory)
      },
      orEnd: { [weak self] in
        self?.fail(code: 1_013, because: "stalled in a message while others waited")
      }
    )
    if isPromised { incoming.assembler.reserve(bytes) } else { pause(true, for: .memory) }
  }
}
