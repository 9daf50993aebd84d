import NIOCore

/// One connection of a load: sends requests that were encoded before, and counts the answers.
///
/// State: opening (one exchange after the other) → open. Confined to its event loop.
final class LoadConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Takes an answer: what it says, and when the bytes arrived, in nanoseconds.
  typealias OnAnswer = (UnsafeRawBufferPointer, UInt64) throws -> Void

  let dialect: Dialect
  private var opening: ArraySlice<Exchange>
  /// The exchange under way, and how many of its answers have not come.
  private var exchange: Exchange?
  private var awaited = 0
  private var isUpgraded: Bool
  private var pending: ByteBuffer?
  private var context: ChannelHandlerContext?
  private var isReading = false
  /// Called once when the connection is open.
  var onOpen: () -> Void = {}
  /// Called for each answer after that.
  var onAnswer: OnAnswer = { _, _ in }
  /// Called when the connection is of no use any more.
  var onFailure: (any Error) -> Void = { _ in }

  /// Makes a connection that is open once all exchanges have happened.
  init(_ dialect: Dialect, opening: [Exchange]) {
    self.dialect = dialect
    self.opening = opening[...]
    isUpgraded = dialect == .redis
  }

  /// Sends a request, with the others of this read.
  func send(_ request: ByteBuffer) {
    guard let context else { return }
    context.write(NIOAny(request), promise: nil)
    if !isReading { context.flush() }
  }

  /// Ends the connection.
  func close() {
    onFailure = { _ in }
    context?.close(promise: nil)
  }

  // MARK: Channel

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    continueOpening()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    onFailure(LoadError("the server closed a connection"))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    onFailure(error)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    var bytes = Self.unwrapInboundIn(data)
    if var earlier = pending {
      pending = nil
      earlier.writeBuffer(&bytes)
      bytes = earlier
    }
    do {
      if !isUpgraded { isUpgraded = try upgrade(&bytes) }
      guard isUpgraded else {
        pending = bytes
        return
      }
      let now = NIODeadline.now().uptimeNanoseconds
      let taken = try bytes.withUnsafeReadableBytes { try take($0, at: now) }
      bytes.moveReaderIndex(forwardBy: taken)
      if bytes.readableBytes > 0 { pending = bytes }
    } catch {
      onFailure(error)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    context.flush()
  }

  // MARK: Reading

  /// Takes the answers that are there, and returns how many bytes they took.
  private func take(_ bytes: UnsafeRawBufferPointer, at now: UInt64) throws -> Int {
    var offset = 0
    while let answer = try dialect.answer(in: bytes, at: offset) {
      let end = offset + answer.length
      let text = UnsafeRawBufferPointer(rebasing: bytes[answer.start..<end])
      if awaited > 0 { received(text) } else { try onAnswer(text, now) }
      offset = end
    }
    return offset
  }

  /// Takes the answer to the handshake off the front, once all of it is there.
  private func upgrade(_ bytes: inout ByteBuffer) throws -> Bool {
    let view = bytes.readableBytesView
    guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
    guard view.starts(with: "HTTP/1.1 101".utf8) else {
      throw LoadError("no WebSocket: \(String(decoding: view.prefix(200), as: UTF8.self))")
    }
    bytes.moveReaderIndex(to: end.upperBound)
    return true
  }

  // MARK: Opening

  private func continueOpening() {
    guard let exchange = opening.popFirst() else {
      onOpen()
      onOpen = {}
      return
    }
    self.exchange = exchange
    awaited = exchange.answers
    send(exchange.request)
  }

  private func received(_ answer: UnsafeRawBufferPointer) {
    let text = String(decoding: answer, as: UTF8.self)
    let isStatus = dialect == .redis || text.contains("\"s\":\"") && text.contains("\"r\":")
    if isStatus, dialect.isRefusal(answer) != (exchange?.isForbidden == true) {
      return onFailure(LoadError("unexpected: \(text)"))
    }
    awaited -= 1
    if awaited == 0 { continueOpening() }
  }
}
