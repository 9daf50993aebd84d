internal import NIOCore
internal import NIOHTTP1

/// Answers the plain HTTP requests of one connection, one at a time.
///
/// State: receiving (a request, or waiting for one) → answering (further input waits) → receiving
/// or streaming (further input is dropped) → leaving (the last response was sent, the end of the
/// input is awaited) → closed. Everything happens on the event loop of the channel. A long body is
/// read only after it has been promised memory, and the next request only after most of the last
/// response has been read. A WebSocket handshake that is not the first request, as proxies send it
/// over connections that they use again, is handed to a handler like the one of the first request,
/// and this handler leaves the connection.
final class PlainRequestHandler: ConnectionHandler, RemovableChannelHandler, HTTPStreamCarrier {
  typealias InboundIn = HTTPServerRequestPart

  private enum Phase {
    case receiving
    case answering
    case streaming(HTTPStream, isChunked: Bool)
    case leaving
    /// With the stream that is told of its end once the channel has closed.
    case closed(HTTPStream?)
  }

  private struct Incoming {
    /// The head of the first request if it asked for an upgrade and was not forwarded.
    var firstHead: HTTPRequestHead?
    var head: HTTPRequestHead?
    /// Whether it may open a WebSocket.
    var isHandshake = false
    var body: [UInt8] = []
    var promise: PromisedInput
    /// Whether the body must wait for memory, or to be admitted.
    var waitsForMemory = false
    /// Whether memory is being requested at this moment.
    var isAsking = false
  }

  /// The input after the request that is being answered.
  private struct Waiting {
    var parts = CircularBuffer<HTTPServerRequestPart>(initialCapacity: 1)
    /// The response to malformed input, sent after everything that waits.
    var failure: HTTPAnswer?
    /// Whether the parts are being processed.
    var isDraining = false
    /// Whether nothing more is received.
    var isPaused = false
    /// Whether the client has ended its side of the connection.
    var isEnded = false
  }

  /// How long a client may take to close the connection after the last response.
  static let farewell = TimeAmount.seconds(2)

  private let recorder: RequestHeadRecorder
  private let input: InputSlicer
  private let peer: Peer
  private let policy: RequestPolicy
  private let answerRequest: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  private let admitBody: @Sendable (HTTPRequest) -> BodyAdmission
  private let onRefusal: @Sendable (String) -> Void
  private let limits: Shared<TransportLimits>
  private let memory: ConnectionMemory
  private let onIdle: (Bool) -> Void
  /// Adds the handler that upgrades the next request.
  private let expectHandshake: () throws -> Void
  private let onClose: () -> Void
  /// Counts a request that was sent before the one before it was answered, and returns how long it
  /// has to wait.
  private let pace: (NIODeadline) -> TimeAmount?
  private var reader = HTTPRequest.Reader()
  private var phase = Phase.receiving
  private var context: ChannelHandlerContext?
  private(set) var output: OutputQueue?
  private var request: Incoming
  /// Whether the next request must wait until the client has read the last response.
  private var waitsForReader = false
  private var waiting = Waiting()
  private var isLast = false
  private var deadline: Scheduled<Void>?

  init(
    recorder: RequestHeadRecorder,
    input: InputSlicer,
    peer: Peer,
    policy: RequestPolicy,
    answer: @escaping @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>,
    admitBody: @escaping @Sendable (HTTPRequest) -> BodyAdmission,
    onRefusal: @escaping @Sendable (String) -> Void,
    limits: Shared<TransportLimits>,
    memory: ConnectionMemory,
    pace: @escaping (NIODeadline) -> TimeAmount?,
    onIdle: @escaping (Bool) -> Void,
    expectHandshake: @escaping () throws -> Void,
    onClose: @escaping () -> Void
  ) {
    self.recorder = recorder
    self.input = input
    self.peer = peer
    self.policy = policy
    answerRequest = answer
    self.admitBody = admitBody
    self.onRefusal = onRefusal
    self.limits = limits
    self.memory = memory
    self.pace = pace
    self.onIdle = onIdle
    self.expectHandshake = expectHandshake
    self.onClose = onClose
    request = Incoming(promise: PromisedInput(memory))
  }

  private var isReceiving: Bool { if case .receiving = phase { true } else { false } }
  private var isAnswering: Bool { if case .answering = phase { true } else { false } }
  private var isClosed: Bool { if case .closed = phase { true } else { false } }

  private var stream: HTTPStream? {
    switch phase {
    case .receiving, .answering, .leaving: nil
    case .streaming(let stream, _): stream
    case .closed(let stream): stream
    }
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    recorder.handsErrorsOn = true
    request.firstHead = recorder.head
    output = OutputQueue(limits: limits, context: context.output, memory: memory) { [weak self] _ in
      self?.close()
    }
    if recorder.hasEnded { inputEnded() }
    setDeadline(limits.request)
    // Nothing more of a refused request is forwarded, not even its end.
    if recorder.refusal != nil { _ = resumeFirst() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else {
      close()
      return
    }
    guard isReceiving || isAnswering else { return }
    waiting.failure = recorder.answer(to: error)
    drain()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard isReceiving || isAnswering, waiting.failure == nil else { return }
    let part = Self.unwrapInboundIn(data)
    if case .body(let bytes) = part { request.promise.received(bytes.readableBytes) }
    waiting.parts.append(part)
    drain()
  }

  /// Takes note that the client sends nothing more, although it may still wait for an answer.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let event = event as? ChannelEvent, event == .inputClosed else {
      return context.fireUserInboundEventTriggered(event)
    }
    inputEnded()
    // An idle connection, or a part of a request, gets no more than what was answered before.
    if isReceiving, waiting.parts.isEmpty { leave() }
  }

  private func inputEnded() {
    waiting.isEnded = true
    if isAnswering { checkReader() }
  }

  /// Finds out whether a client that has ended its side still waits for the answer.
  ///
  /// The kernel tells of the two ends of a local connection. Over TCP it looks the same if the client
  /// has gone, unless it is sent something, which an interim answer is. A write must not be carried out
  /// late for a client that may have sent it to another server since.
  private func checkReader() {
    guard !peer.isLocal else { return }
    guard let head = request.head, head.version == .http1_1, [.GET, .HEAD].contains(head.method)
    else { return reader.leave() }
    sendContinue()
  }

  /// Processes waiting input until it reaches a request that must be answered first.
  private func drain() {
    guard !waiting.isDraining else { return }
    waiting.isDraining = true
    while mayReceive, let part = waiting.parts.popFirst() { receive(part) }
    waiting.isDraining = false
    guard isReceiving, waiting.parts.isEmpty else { return }
    if let failure = waiting.failure { return write(failure, isLast: true) }
    // Nothing that has been decoded waits any more.
    guard waiting.isPaused, mayReceive else { return }
    waiting.isPaused = false
    input.setReading(true)
  }

  private var mayReceive: Bool { isReceiving && !waitsForReader && !request.waitsForMemory }

  private func pauseInput() {
    waiting.isPaused = true
    input.setReading(false)
  }

  // MARK: Receiving

  private func receive(_ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head): begin(head)
    case .body(let bytes):
      guard resumeFirst() else { return }
      let length = request.body.count + bytes.readableBytes
      guard length <= limits.bodyBytes else { return refuseBody() }
      request.body.append(contentsOf: bytes.readableBytesView)
      if length > memory.bounds.share, request.promise.bytes < length {
        _ = askForMemory(limits.bodyBytes)
      }
    case .end:
      guard resumeFirst(), let head = request.head else { return }
      if request.isHandshake { handOn(head) } else { answer(head) }
    }
  }

  /// Begins the first request, whose head was not forwarded, unless a request has begun.
  private func resumeFirst() -> Bool {
    if request.head == nil, let head = request.firstHead { begin(head) }
    return isReceiving
  }

  private func begin(_ head: HTTPRequestHead) {
    let asked = HTTPRequest(head: head, peer: peer)
    // The first request has been refused an upgrade already.
    request.isHandshake = request.firstHead == nil && head.isHandshake && asked.path == "/.ws"
    request.firstHead = nil
    request.head = head
    request.body = []
    // The parser treats everything after such a request as another protocol.
    if head.headers.contains(name: "Upgrade") { isLast = true }
    setDeadline(limits.request)
    if request.isHandshake { return }
    if let refusal = refusal(of: asked) {
      write(refusal, isLast: true)
      return
    }
    let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
    guard length <= limits.bodyBytes else { return refuseBody() }
    guard length <= memory.bounds.share || askForMemory(length) else { return }
    allowBody(head)
  }

  private func refuseBody() {
    write(HTTPAnswer(status: 413, error: "the body is too long"), isLast: true)
  }

  private func refusal(of request: HTTPRequest) -> HTTPAnswer? {
    if let refusal = policy.refusal(of: request) {
      onRefusal(refusal.description)
      return refusal.answer
    }
    if let refusal = Self.refusal(ofCodingsIn: request) { return refusal }
    guard request.path == "/.ws" else { return nil }
    return recorder.refusal ?? HTTPAnswer(status: 400, error: "only WebSockets are accepted here")
  }

  /// The answer to a request whose body is compressed.
  private static func refusal(ofCodingsIn request: HTTPRequest) -> HTTPAnswer? {
    guard request.headerList("Transfer-Encoding").allSatisfy({ $0.lowercased() == "chunked" })
    else { return HTTPAnswer(status: 501, error: "the Transfer-Encoding must be chunked") }
    guard ["PUT", "POST", "PATCH"].contains(request.method),
      !request.headerList("Content-Encoding").allSatisfy({ $0.lowercased() == "identity" })
    else { return nil }
    var answer = HTTPAnswer(status: 415, error: "the body must not be compressed")
    answer.headerLines.append(HTTPAnswer.HeaderLine("Accept-Encoding", "identity"))
    return answer
  }

  /// Leaves the connection to the handler of a WebSocket handshake, once all answers are written.
  private func handOn(_ head: HTTPRequestHead) {
    guard let output, !waiting.isEnded else { return leave() }
    phase = .leaving
    output.flush()
    output.whenWritten().assumeIsolated().whenSuccess { _ in
      guard let context = self.context, case .leaving = self.phase else { return }
      guard !self.waiting.isEnded else { return self.close() }
      let pipeline = context.pipeline.syncOperations
      do {
        let before = try pipeline.context(handler: self.recorder)
        try self.expectHandshake()
        self.recorder.expectHandshake()
        self.input.setReading(true)
        // This handler is the only one between the recorder and the new one.
        pipeline.removeHandler(context: context, promise: nil)
        before.fireChannelRead(NIOAny(HTTPServerRequestPart.head(head)))
        before.fireChannelRead(NIOAny(HTTPServerRequestPart.end(nil)))
      } catch {
        self.close()
      }
    }
  }

  // MARK: Answering

  private func answer(_ head: HTTPRequestHead) {
    phase = .answering
    deadline?.cancel()
    pauseInput()
    request.promise.complete()
    onIdle(false)
    let reader = HTTPRequest.Reader()
    self.reader = reader
    let asked = HTTPRequest(
      head: head,
      body: request.body,
      peer: peer,
      connection: .init(self),
      reader: reader
    )
    request.body = []
    guard let eventLoop = context?.eventLoop else { return }
    answerRequest(asked, eventLoop).hop(to: eventLoop).assumeIsolated().whenComplete { result in
      switch result {
      case .success(.answer(let answer)): self.answered(head, with: answer)
      case .success(.stream(let answer, let open)):
        let stream = HTTPStream(self, on: eventLoop)
        self.start(stream, after: answer, to: head)
        stream.open(open)
      case .failure:
        let answer = HTTPAnswer(status: 500, error: "the server failed")
        self.answered(head, with: answer, isLast: true)
      }
    }
    // The answer may have come at once, and with it the next request.
    if waiting.isEnded, isAnswering, self.reader === reader { checkReader() }
  }

  private func answered(_ head: HTTPRequestHead, with answer: HTTPAnswer, isLast: Bool = false) {
    guard isAnswering else { return }
    write(answer, isLast: isLast || self.isLast || !head.isKeepAlive)
  }

  private func write(_ answer: HTTPAnswer, isLast: Bool) {
    request.body = []
    releaseMemory()
    let encoder = AnswerEncoder(method: request.head?.method ?? .GET, keepsAlive: !isLast)
    var answer = answer
    answer.headerLines += policy.lines(for: request.head)
    for (index, piece) in encoder.encode(answer).enumerated() {
      output?.append(piece, goesOn: index > 0)
    }
    request.head = nil
    guard !isLast, !waiting.isEnded || hasFurtherInput else {
      leave()
      return
    }
    phase = .receiving
    setDeadline(limits.keepAlive)
    // A client that is still reading a long response is not idle.
    onIdle(output?.hasNotableOutput != true)
    resumeReceiving()
  }

  /// Receives the next request as soon as the client has read most of the last response.
  private func resumeReceiving() {
    guard let output, output.isCongested || output.hasNotableOutput && hasFurtherInput else {
      guard !rests() else { return }
      waitsForReader = false
      drain()
      return
    }
    waitsForReader = true
    output.flush()
    memory.whenRelieved { [weak self] in
      guard let self, isReceiving, waitsForReader else { return }
      resumeReceiving()
    }
  }

  /// Waits a moment if many requests have been sent without waiting for answers.
  private func rests() -> Bool {
    guard hasFurtherInput, let context, let rest = pace(context.eventLoop.now)
    else { return false }
    waitsForReader = true
    context.eventLoop.assumeIsolated().scheduleTask(in: rest) { [weak self] in
      guard let self, isReceiving, waitsForReader else { return }
      waitsForReader = false
      drain()
    }
    return true
  }

  /// Whether the client has sent something without waiting for the last response.
  private var hasFurtherInput: Bool { !waiting.parts.isEmpty || input.holdsInput }

  // MARK: Streaming

  private func start(_ stream: HTTPStream, after answer: HTTPAnswer, to head: HTTPRequestHead) {
    guard isAnswering else { return stream.ended() }
    // The end may wait behind other input.
    waiting.parts.removeAll()
    input.drop()
    guard !waiting.isEnded else {
      stream.ended()
      return close()
    }
    // Whoever ends its side now has gone.
    _ = try? context?.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
    let isChunked = head.version == .http1_1
    let encoder = AnswerEncoder(method: head.method, keepsAlive: false)
    var answer = answer
    answer.headerLines += policy.lines(for: head)
    output?.append(encoder.head(of: answer, framing: isChunked ? .chunks : .end))
    phase = .streaming(stream, isChunked: isChunked)
    request.body = []
    releaseMemory()
  }

  func sendPart(_ bytes: [UInt8]) {
    guard case .streaming(_, let isChunked) = phase, !bytes.isEmpty else { return }
    for (index, piece) in AnswerEncoder.pieces(of: bytes).enumerated() {
      let buffer = isChunked ? AnswerEncoder.chunk(piece) : ByteBuffer(bytes: piece)
      output?.append(buffer, goesOn: index > 0)
    }
  }

  func endStream() {
    guard case .streaming(let stream, let isChunked) = phase else { return }
    if isChunked { output?.append(ByteBuffer(string: "0\r\n\r\n")) }
    phase = .leaving
    stream.ended()
    leave()
  }

  // MARK: Ending

  /// Closes after pending requests are answered; returns nil if the connection is already closed.
  func closeGracefully() -> EventLoopFuture<Void>? {
    let closed = context?.channel.closeFuture
    switch phase {
    case .receiving where request.head != nil:
      // An upload is answered, so that its client knows that nothing was stored.
      write(HTTPAnswer(status: 503, error: "the server is stopping"), isLast: true)
    case .receiving where output?.isWaiting == true: leave()
    case .receiving: close()
    case .answering: isLast = true
    case .streaming(let stream, _):
      stream.end()
    case .leaving, .closed: break
    }
    return closed
  }

  /// Closes immediately; responses that are still pending are not sent.
  func closeAtOnce() { close() }

  /// Ends the output and waits briefly, because closing with unread input could lose the response.
  private func leave() {
    guard let context, !isClosed else { return }
    phase = .leaving
    waiting.parts.removeAll()
    output?.flush()
    input.drop()
    deadline?.cancel()
    // Until everything is written, the queue checks that the other end keeps reading.
    if waiting.isEnded {
      // To close the second side would discard what is not written yet.
      output?.whenWritten().assumeIsolated().whenComplete { _ in self.close() }
    } else {
      context.close(mode: .output).assumeIsolated().whenComplete { _ in
        if case .leaving = self.phase { self.setDeadline(Self.farewell) }
      }
    }
  }

  private func close() {
    guard !isClosed else { return }
    phase = .closed(stream)
    output?.close()
    context?.close(promise: nil)
  }

  func finish() {
    guard context != nil else { return }
    context = nil
    reader.leave()
    let stream = stream
    phase = .closed(nil)
    output?.close()
    output = nil
    deadline?.cancel()
    waiting.parts.removeAll()
    releaseMemory()
    stream?.ended()
    onClose()
  }

  private func setDeadline(_ time: TimeAmount) {
    deadline?.cancel()
    deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: time) {
      if self.isReceiving, self.request.head != nil {
        // Its client knows then that nothing was stored, and why.
        let reason: StaticString = "the request took too long to arrive"
        return self.write(HTTPAnswer(status: 408, error: reason), isLast: true)
      }
      // Until everything is written, the queue checks that the other end keeps reading.
      guard self.output?.isWaiting != true else { return self.setDeadline(time) }
      guard self.waitsForReader else { return self.close() }
      // The answer has been read meanwhile, and something behind it is here.
      self.setDeadline(time)
      self.output?.noteWaiting()
      self.resumeReceiving()
    }
  }
}

// MARK: Memory

/// Which memory a long body uses, or why it is not read.
package enum BodyAdmission: Sendable {
  /// The memory of clients that have not signed in.
  case ofStranger
  /// The memory of all other clients.
  case ofKnown
  /// None: the body is refused with this response.
  case refused(HTTPAnswer)
}

extension PlainRequestHandler {
  /// Tells the client to send the body if it is waiting for that.
  private func allowBody(_ head: HTTPRequestHead) {
    guard head.version == .http1_1,
      head.headers.first(name: "Expect")?.lowercased() == "100-continue"
    else { return }
    sendContinue()
  }

  private func sendContinue() {
    output?.append(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
  }

  /// Requests memory for a long body; until it is granted, reading pauses.
  ///
  /// - Returns: Whether the body may be read now.
  private func askForMemory(_ bytes: Int) -> Bool {
    guard let head = request.head else { return false }
    self.request.isAsking = true
    self.request.waitsForMemory = true
    if self.request.promise.bytes > 0 {
      promiseMemory(bytes)
    } else {
      bodyAdmitted(admitBody(HTTPRequest(head: head, peer: peer)), bytes: bytes)
    }
    request.isAsking = false
    if request.waitsForMemory { pauseInput() }
    return isReceiving && !request.waitsForMemory
  }

  private func bodyAdmitted(_ admission: BodyAdmission, bytes: Int) {
    guard isReceiving, request.waitsForMemory else { return }
    switch admission {
    case .refused(let answer): return write(answer, isLast: true)
    case .ofStranger: request.promise.isStranger = true
    case .ofKnown:
      request.promise.isStranger = false
      onIdle(false)
    }
    promiseMemory(bytes)
  }

  private func promiseMemory(_ bytes: Int) {
    let isPromised = request.promise.ask(
      bytes,
      whenRoom: { [weak self] in self?.memoryGranted(bytes) },
      orEnd: { [weak self] in
        guard let self, isReceiving else { return }
        let reason: StaticString = "the body stalled while others waited"
        write(HTTPAnswer(status: 408, error: reason), isLast: true)
      }
    )
    if isPromised { memoryGranted(bytes) }
  }

  private func memoryGranted(_ bytes: Int) {
    request.body.reserveCapacity(bytes)
    request.waitsForMemory = false
    guard !request.isAsking else { return }
    if request.body.isEmpty, let head = request.head { allowBody(head) }
    drain()
  }

  /// Releases the memory that was promised to the body.
  private func releaseMemory() {
    request.waitsForMemory = false
    request.promise.release()
  }
}
