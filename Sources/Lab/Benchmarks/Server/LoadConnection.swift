import NIOCore

/// One connection of a load: sends pre-encoded requests, and counts the responses.
///
/// State: opening (one exchange after the other) → open. Confined to its event loop.
final class LoadConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Receives a response: its content, and when the bytes arrived, in nanoseconds.
  typealias OnAnswer = (UnsafeRawBufferPointer, UInt64) throws -> Void

  let dialect: Dialect
  private var opening: ArraySlice<Exchange>
  /// The exchange under way, and the number of its responses that are still to come.
  private var exchange: Exchange?
  private var awaited = 0
  private var isUpgraded: Bool
  private var pending: ByteBuffer?
  private var context: ChannelHandlerContext?
  private var isReading = false
  /// Called once, when the connection is open.
  var onOpen: () -> Void = {}
  /// Called for each response after that.
  var onAnswer: OnAnswer = { _, _ in }
  /// Called when the connection has become unusable.
  var onFailure: (any Error) -> Void = { _ in }

  /// Creates a connection that is open once all exchanges have taken place.
  init(_ dialect: Dialect, opening: [Exchange]) {
    self.dialect = dialect
    self.opening = opening[...]
    isUpgraded = dialect == .redis
  }

  /// Sends a request, together with the others of the current read.
  func send(_ request: ByteBuffer) {
    guard let context else { return }
    context.write(NIOAny(request), promise: nil)
    if !isReading { context.flush() }
  }

  /// Closes the connection.
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

  /// Handles the responses that have arrived, and returns how many bytes they took.
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

  /// Removes the handshake response from the front, once all of it has arrived.
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

/// A request, and the number of responses that follow it.
struct Exchange: Sendable {
  let request: ByteBuffer
  let answers: Int
  /// Whether the server must refuse the request.
  let isForbidden: Bool

  init(_ request: ByteBuffer, answers: Int = 1, isForbidden: Bool = false) {
    self.request = request
    self.answers = answers
    self.isForbidden = isForbidden
  }
}

/// The address of a server, and its protocol.
struct LoadTarget: Sendable {
  let address: SocketAddress
  let dialect: Dialect
}

/// The protocol of a connection, which determines where a response ends and whether it is a
/// refusal.
enum Dialect {
  /// Text frames of the database's own protocol.
  case webSocket
  /// The protocol of Redis.
  case redis

  /// One complete response at the front of some bytes.
  struct Answer {
    /// The length of the response in bytes.
    let length: Int
    /// The offset at which the content begins.
    let start: Int
  }

  /// The complete response at an offset; nil while part of it is still to come.
  ///
  /// - Throws: ``LoadError`` for malformed responses.
  func answer(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(LoadError) -> Answer? {
    switch self {
    case .webSocket: try Self.frame(bytes, at: offset)
    case .redis:
      try Self.reply(bytes, at: offset).map { Answer(length: $0 - offset, start: offset) }
    }
  }

  /// Whether a response is a refusal.
  func isRefusal(_ answer: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .webSocket: !Self.isOK(answer)
    case .redis: answer.first == UInt8(ascii: "-")
    }
  }

  // MARK: WebSocket

  /// Whether a response has the status `ok`.
  private static func isOK(_ answer: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 6 < answer.count {
      if answer[index] == UInt8(ascii: "s"), answer[index + 1] == UInt8(ascii: "\""),
        answer[index + 3] == UInt8(ascii: "\"")
      {
        return answer[index + 4] == UInt8(ascii: "o") && answer[index + 5] == UInt8(ascii: "k")
          && answer[index + 6] == UInt8(ascii: "\"")
      }
      index += 1
    }
    return false
  }

  private static func frame(
    _ bytes: UnsafeRawBufferPointer,
    at offset: Int
  ) throws(LoadError) -> Answer? {
    var begin = offset
    // A server pings connections that have been idle while others were measured.
    while bytes.count - begin >= 2, bytes[begin] == 0x89 { begin += 2 + Int(bytes[begin + 1]) }
    let rest = bytes.count - begin
    guard rest >= 2 else { return nil }
    guard bytes[begin] == 0x81 else {
      throw LoadError("a frame that begins with \(bytes[begin]) instead of a text")
    }
    var header = 2
    var length = Int(bytes[begin + 1])
    if length >= 126 {
      let count = length == 126 ? 2 : 8
      guard rest >= 2 + count else { return nil }
      length = 0
      for index in 0..<count { length = length << 8 | Int(bytes[begin + 2 + index]) }
      header += count
    }
    guard rest >= header + length else { return nil }
    return Answer(length: begin - offset + header + length, start: begin + header)
  }

  // MARK: Redis

  /// The end of the reply at an offset.
  private static func reply(
    _ bytes: UnsafeRawBufferPointer,
    at offset: Int
  ) throws(LoadError) -> Int? {
    guard let line = endOfLine(bytes, from: offset) else { return nil }
    switch bytes[offset] {
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"): return line
    case UInt8(ascii: "$"):
      let end = line + (try number(bytes, from: offset + 1)) + 2
      return end <= bytes.count ? end : nil
    case UInt8(ascii: "*"):
      var end = line
      for _ in 0..<(try number(bytes, from: offset + 1)) {
        guard end < bytes.count, let next = try reply(bytes, at: end) else { return nil }
        end = next
      }
      return end
    default: throw LoadError("a reply that begins with \(bytes[offset])")
    }
  }

  private static func endOfLine(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int? {
    var index = offset + 1
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\n") { return index + 1 }
      index += 1
    }
    return nil
  }

  private static func number(
    _ bytes: UnsafeRawBufferPointer,
    from offset: Int
  ) throws(LoadError) -> Int {
    var value = 0
    var index = offset
    while bytes[index] != UInt8(ascii: "\r") {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else {
        throw LoadError("a length that is no number")
      }
      value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
      index += 1
    }
    return value
  }
}
