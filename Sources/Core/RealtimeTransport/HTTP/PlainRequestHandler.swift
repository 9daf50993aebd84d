internal import NIOCore
internal import NIOHTTP1

/// Answers the plain HTTP requests of one connection, one at a time.
///
/// State: receiving (a request, or waiting for one) → answering (further input waits) → receiving
/// or streaming (further input is dropped) → leaving (the last response was sent, the end of the
/// input is awaited) → closed. Everything happens on the event loop of the channel. A long body is
/// read only after it has been promised memory, and the next request only after most of the last
/// response has been read.
final class PlainRequestHandler: ChannelInboundHandler, OutputHandler {
  typealias InboundIn = HTTPServerRequestPart

  private enum Phase {
    case receiving
    case answering
    case streaming
    case leaving
    case closed
  }

  /// How long a client may take to close the connection after the last response.
  static let farewell = TimeAmount.seconds(2)

  private let recorder: RequestHeadRecorder
  private let input: InputSlicer
  private let peer: Peer
  private let policy: RequestPolicy
  private let link: LoopLink
  private let answerRequest: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>
  private let admitBody: @Sendable (HTTPRequest) -> BodyAdmission
  private let onRefusal: @Sendable (String) -> Void
  private let limits: Shared<TransportLimits>
  private let memory: ConnectionMemory
  private let mirror: OutputMirror?
  private let onIdle: (Bool) -> Void
  private let onClose: () -> Void
  /// Counts a request that was sent before the one before it was answered, and returns how long it
  /// has to wait.
  private let pace: (NIODeadline) -> TimeAmount?
  private let reader = HTTPRequest.Reader()
  private var phase = Phase.receiving
  private var context: ChannelHandlerContext?
  private var output: OutputQueue?
  /// The head of the first request if it asked for an upgrade and was not forwarded.
  private var firstHead: HTTPRequestHead?
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  /// The memory promised to long bodies; nil until some is needed.
  private var holder: InputPromises.Holder?
  /// Whether the body must wait for memory, or to be admitted.
  private var waitsForMemory = false
  /// Whether memory is being requested at this moment.
  private var isAsking = false
  /// Whether the next request must wait until the client has read the last response.
  private var waitsForReader = false
  /// The input after the request that is being answered.
  private var waiting = CircularBuffer<HTTPServerRequestPart>()
  private var isDraining = false
  private var isPaused = false
  /// The response to malformed input, sent after everything that waits.
  private var failure: HTTPAnswer?
  private var isLast = false
  private var deadline: Scheduled<Void>?
  private var stream: HTTPStream?
  private var isChunked = true

  init(
    recorder: RequestHeadRecorder,
    input: InputSlicer,
    peer: Peer,
    policy: RequestPolicy,
    link: LoopLink,
    answer: @escaping @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPReply>,
    admitBody: @escaping @Sendable (HTTPRequest) -> BodyAdmission,
    onRefusal: @escaping @Sendable (String) -> Void,
    limits: Shared<TransportLimits>,
    memory: ConnectionMemory,
    pace: @escaping (NIODeadline) -> TimeAmount?,
    onIdle: @escaping (Bool) -> Void,
    onClose: @escaping () -> Void
  ) {
    self.recorder = recorder
    self.input = input
    self.peer = peer
    self.policy = policy
    self.link = link
    answerRequest = answer
    self.admitBody = admitBody
    self.onRefusal = onRefusal
    mirror = link.isDirect ? nil : OutputMirror(link, limits: limits, total: memory.total)
    self.limits = limits
    self.memory = memory
    self.pace = pace
    self.onIdle = onIdle
    self.onClose = onClose
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    recorder.handsErrorsOn = true
    firstHead = recorder.head
    // Responses are written as bytes, bypassing the encoder, which stays in the pipeline.
    let encoder = try? context.pipeline.syncOperations.context(
      handlerType: HTTPResponseEncoder.self
    )
    output = OutputQueue(
      limits: limits,
      context: encoder ?? context,
      memory: memory,
      mirror: mirror
    ) { [weak self] _ in
      self?.close()
    }
    setDeadline(limits.request)
    // Nothing more of a refused request is forwarded, not even its end.
    if recorder.refusal != nil { _ = resumeFirst() }
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
    guard error is HTTPParserError else {
      close()
      return
    }
    guard phase == .receiving || phase == .answering else { return }
    failure = recorder.answer(to: error)
    drain()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .receiving || phase == .answering, failure == nil else { return }
    let part = Self.unwrapInboundIn(data)
    if case .body(let bytes) = part { holder?.received(bytes.readableBytes) }
    waiting.append(part)
    drain()
  }

  /// Processes waiting input until it reaches a request that must be answered first.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    while phase == .receiving, !waitsForReader, !waitsForMemory, let part = waiting.popFirst() {
      receive(part)
    }
    isDraining = false
    guard phase == .receiving, waiting.isEmpty else { return }
    if let failure { return write(failure, isLast: true) }
    resumeInput()
  }

  /// Receives more once nothing that has been decoded waits.
  private func resumeInput() {
    guard isPaused, phase == .receiving, !waitsForReader, !waitsForMemory, waiting.isEmpty,
      !isDraining
    else { return }
    isPaused = false
    input.setReading(true)
  }

  private func pauseInput() {
    isPaused = true
    input.setReading(false)
  }

  // MARK: Receiving

  private func receive(_ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head): begin(head)
    case .body(let bytes):
      guard resumeFirst() else { return }
      let length = body.count + bytes.readableBytes
      guard length <= limits.bodyBytes else { return refuseBody() }
      body.append(contentsOf: bytes.readableBytesView)
      if length > memory.bounds.share, holder?.promised ?? 0 < length {
        _ = askForMemory(limits.bodyBytes)
      }
    case .end:
      guard resumeFirst(), let head else { return }
      answer(head)
    }
  }

  /// Begins the first request, whose head was not forwarded, unless a request has begun.
  private func resumeFirst() -> Bool {
    if head == nil, let firstHead { begin(firstHead) }
    return phase == .receiving
  }

  private func begin(_ head: HTTPRequestHead) {
    firstHead = nil
    self.head = head
    body = []
    // The parser treats everything after such a request as another protocol.
    if head.headers.contains(name: "Upgrade") { isLast = true }
    setDeadline(limits.request)
    let request = HTTPRequest(head: head, peer: peer)
    if let refusal = refusal(of: request) {
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
      let sentence = refusal.description
      link.toServer { [onRefusal] in onRefusal(sentence) }
      return refusal.answer
    }
    guard request.path == "/.ws" else { return nil }
    return recorder.refusal ?? HTTPAnswer(status: 400, error: "only WebSockets are accepted here")
  }

  // MARK: Answering

  private func answer(_ head: HTTPRequestHead) {
    phase = .answering
    deadline?.cancel()
    pauseInput()
    holder?.isComplete = true
    onIdle(false)
    let request = HTTPRequest(
      head: head,
      body: body,
      peer: peer,
      connection: .init(self),
      reader: reader
    )
    body = []
    let handler = NIOLoopBound(self, eventLoop: link.connections)
    link.toServer { [link, answerRequest, mirror] in
      answerRequest(request, link.server).hop(to: link.server).whenComplete { result in
        switch result {
        case .success(.answer(let answer)):
          let pass: @Sendable () -> Void = { handler.value.answered(head, with: answer) }
          if let mirror { mirror.send(answer.body.count, pass) } else { pass() }
        case .success(.stream(let answer, let open)):
          let stream = HTTPStream(link, mirror: mirror)
          link.toConnections { handler.value.start(stream, after: answer, to: head) }
          stream.open(open)
        case .failure:
          let answer = HTTPAnswer(status: 500, error: "the server failed")
          link.toConnections { handler.value.answered(head, with: answer, isLast: true) }
        }
      }
    }
  }

  private func answered(_ head: HTTPRequestHead, with answer: HTTPAnswer, isLast: Bool = false) {
    guard phase == .answering else { return }
    write(answer, isLast: isLast || self.isLast || !head.isKeepAlive)
  }

  private func write(_ answer: HTTPAnswer, isLast: Bool) {
    body = []
    releaseMemory()
    let encoder = AnswerEncoder(method: head?.method ?? .GET, keepsAlive: !isLast)
    var answer = answer
    answer.headerLines += policy.lines(for: head)
    for (index, piece) in encoder.encode(answer).enumerated() {
      output?.append(piece, goesOn: index > 0)
    }
    head = nil
    guard !isLast else {
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
      guard let self, phase == .receiving, waitsForReader else { return }
      resumeReceiving()
    }
  }

  /// Waits a moment if many requests have been sent without waiting for answers.
  private func rests() -> Bool {
    guard hasFurtherInput, let context, let rest = pace(context.eventLoop.now)
    else { return false }
    waitsForReader = true
    context.eventLoop.assumeIsolated().scheduleTask(in: rest) { [weak self] in
      guard let self, phase == .receiving, waitsForReader else { return }
      waitsForReader = false
      drain()
    }
    return true
  }

  /// Whether the client has sent something without waiting for the last response.
  private var hasFurtherInput: Bool { !waiting.isEmpty || input.holdsInput }

  // MARK: Streaming

  private func start(_ stream: HTTPStream, after answer: HTTPAnswer, to head: HTTPRequestHead) {
    guard phase == .answering else { return stream.ended() }
    isChunked = head.version == .http1_1
    let encoder = AnswerEncoder(method: head.method, keepsAlive: false)
    var answer = answer
    answer.headerLines += policy.lines(for: head)
    output?.append(encoder.head(of: answer, framing: isChunked ? .chunks : .end))
    phase = .streaming
    body = []
    releaseMemory()
    waiting.removeAll()
    input.drop()
    self.stream = stream
    stream.attach(self)
  }

  /// Sends a piece of the body.
  func sendPart(_ bytes: [UInt8]) {
    guard phase == .streaming, !bytes.isEmpty else { return }
    for (index, piece) in AnswerEncoder.pieces(of: bytes).enumerated() {
      let buffer = isChunked ? AnswerEncoder.chunk(piece) : ByteBuffer(bytes: piece)
      output?.append(buffer, goesOn: index > 0)
    }
  }

  /// Whether so much output is waiting that the stream should send less.
  var isCongested: Bool { output?.isCongested ?? false }

  /// Calls a closure once, as soon as the client has caught up.
  func whenRelieved(_ body: @escaping () -> Void) {
    output?.whenRelieved(body)
  }

  /// Ends the body.
  func endStream() {
    guard phase == .streaming else { return }
    if isChunked { output?.append(ByteBuffer(string: "0\r\n\r\n")) }
    forgetStream()
    leave()
  }

  private func forgetStream() {
    let ended = stream
    stream = nil
    ended?.ended()
  }

  // MARK: Ending

  /// Closes after pending requests are answered; returns nil if the connection is already closed.
  func closeGracefully() -> EventLoopFuture<Void>? {
    let closed = context?.channel.closeFuture
    switch phase {
    case .receiving where head != nil:
      // An upload is answered, so that its client knows that nothing was stored.
      write(HTTPAnswer(status: 503, error: "the server is stopping"), isLast: true)
    case .receiving: close()
    case .answering: isLast = true
    case .streaming:
      // The server's pieces that are on their way come first.
      if let stream { link.toServer { stream.end() } }
    case .leaving, .closed: break
    }
    return closed
  }

  /// Closes immediately; responses that are still pending are not sent.
  func closeAtOnce() { close() }

  /// Ends the output and waits briefly, because closing with unread input could lose the response.
  private func leave() {
    guard let context, phase != .closed else { return }
    phase = .leaving
    waiting.removeAll()
    output?.flush()
    input.drop()
    deadline?.cancel()
    // Until everything is written, the queue checks that the other end keeps reading.
    context.close(mode: .output).assumeIsolated().whenComplete { _ in
      if self.phase == .leaving { self.setDeadline(Self.farewell) }
    }
  }

  private func close() {
    guard phase != .closed else { return }
    phase = .closed
    output?.close()
    context?.close(promise: nil)
  }

  private func finish() {
    guard context != nil else { return }
    context = nil
    reader.leave()
    phase = .closed
    output?.close()
    output = nil
    deadline?.cancel()
    waiting.removeAll()
    releaseMemory()
    forgetStream()
    onClose()
  }

  private func setDeadline(_ time: TimeAmount) {
    deadline?.cancel()
    deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: time) {
      self.output?.flush()
      self.close()
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
    output?.append(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
  }

  /// Requests memory for a long body; until it is granted, reading pauses.
  ///
  /// - Returns: Whether the body may be read now.
  private func askForMemory(_ bytes: Int) -> Bool {
    guard let head else { return false }
    let holder = self.holder ?? makeHolder()
    isAsking = true
    waitsForMemory = true
    if holder.promised > 0 {
      askForMemory(bytes, for: holder)
    } else {
      let request = HTTPRequest(head: head, peer: peer)
      let handler = NIOLoopBound(self, eventLoop: link.connections)
      link.toServer { [link, admitBody] in
        let admission = admitBody(request)
        link.toConnections { handler.value.bodyAdmitted(admission, bytes: bytes) }
      }
    }
    isAsking = false
    if waitsForMemory { pauseInput() }
    return phase == .receiving && !waitsForMemory
  }

  private func bodyAdmitted(_ admission: BodyAdmission, bytes: Int) {
    guard phase == .receiving, waitsForMemory, let holder else { return }
    switch admission {
    case .refused(let answer): return write(answer, isLast: true)
    case .ofStranger: holder.isStranger = true
    case .ofKnown:
      holder.isStranger = false
      onIdle(false)
    }
    askForMemory(bytes, for: holder)
  }

  private func askForMemory(_ bytes: Int, for holder: InputPromises.Holder) {
    let isPromised = memory.input.promise(bytes, to: holder) { [weak self] in
      self?.memoryGranted(bytes)
    }
    if isPromised { memoryGranted(bytes) }
  }

  private func memoryGranted(_ bytes: Int) {
    body.reserveCapacity(bytes)
    waitsForMemory = false
    guard !isAsking else { return }
    if body.isEmpty, let head { allowBody(head) }
    drain()
  }

  private func makeHolder() -> InputPromises.Holder {
    let holder = InputPromises.Holder(on: memory.eventLoop) { [weak self] in
      guard let self, phase == .receiving else { return }
      let reason: StaticString = "the body stalled while others waited"
      write(HTTPAnswer(status: 408, error: reason), isLast: true)
    }
    self.holder = holder
    return holder
  }

  /// Releases the memory that was promised to the body.
  private func releaseMemory() {
    waitsForMemory = false
    if let holder { memory.input.release(holder) }
  }
}
