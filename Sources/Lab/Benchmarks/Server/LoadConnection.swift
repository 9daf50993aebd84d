import Glibc
import HearthLab
import NIOCore

/// One connection of a load: sends prepared requests, and finds the responses in what arrives.
///
/// It shares the cores of the server that it measures, so it is as light as a client can be: one
/// system call sends, one receives, and nothing is decoded.
final class LoadConnection {
  let dialect: Dialect
  let descriptor: Int32
  /// The front of a response whose end is still to come.
  private var pending: [UInt8] = []

  init(to target: LoadTarget, opening: [Exchange]) throws {
    dialect = target.dialect
    descriptor = try target.connectedSocket()
    var room = LoadRoom()
    for exchange in opening {
      try send(exchange.request)
      var awaited = exchange.answers
      while awaited > 0 {
        try receive(into: &room, waits: true) { answer in
          awaited -= 1
          if dialect.isStatus(answer), dialect.isRefusal(answer) != exchange.isForbidden {
            throw LoadError("unexpected: \(String(decoding: answer, as: UTF8.self))")
          }
        }
      }
    }
  }

  deinit {
    close(descriptor)
  }

  /// Sends requests; all that are under way must fit into the buffers of the system.
  func send(_ requests: ByteBuffer) throws { try requests.send(over: descriptor) }

  /// Receives what has arrived, and passes on each complete response.
  ///
  /// - Parameters:
  ///   - room: Takes the bytes; it is shared by all connections.
  ///   - waits: Whether to wait for the first byte.
  ///   - body: Receives the content of a response.
  /// - Throws: The closure's error, or ``LoadError`` when the connection has become unusable.
  func receive(
    into room: inout LoadRoom,
    waits: Bool = false,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let earlier = pending.count
    try room.bytes.withUnsafeMutableBytes { room in
      if earlier > 0 { room.copyBytes(from: pending) }
      let free = UnsafeMutableRawBufferPointer(rebasing: room[earlier...])
      let count = recv(
        descriptor,
        free.baseAddress,
        free.count,
        waits ? 0 : Int32(MSG_DONTWAIT)
      )
      if count < 0, errno == EAGAIN, !waits { return }
      guard count > 0 else { throw LoadError("the server closed a connection, or is silent") }
      let bytes = UnsafeRawBufferPointer(rebasing: room[..<(earlier + count)])
      var offset = 0
      while let answer = try dialect.answer(in: bytes, at: offset) {
        try body(UnsafeRawBufferPointer(rebasing: bytes[answer.start..<offset + answer.length]))
        offset += answer.length
      }
      pending.removeAll(keepingCapacity: true)
      if offset < bytes.count { pending.append(contentsOf: bytes[offset...]) }
    }
  }
}

extension ByteBuffer {
  /// Sends everything at once; it must fit into the buffers of the system.
  func send(over socket: Int32) throws {
    let sent = withUnsafeReadableBytes { bytes in
      Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == readableBytes else { throw LoadError("the server closed a connection") }
  }
}

/// Memory for what a read takes; larger than any response.
struct LoadRoom {
  fileprivate var bytes = [UInt8](repeating: 0, count: 1 << 18)
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

  /// Opens a connection for each list of exchanges, in the same order.
  func connect(_ openings: [[Exchange]]) throws -> [LoadConnection] {
    try openings.map { try LoadConnection(to: self, opening: $0) }
  }

  /// A socket that is connected to the server, and gives up waiting after half a minute.
  func connectedSocket() throws -> Int32 {
    guard let descriptor = address.connectedSocket(waitingAtMost: 30) else {
      throw LoadError("nobody listens at \(address)")
    }
    var isOn: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    // A Unix socket does not have this option, and does not need it.
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
    return descriptor
  }
}

/// The protocol of a connection, which determines where a response ends and whether it is a
/// refusal.
enum Dialect {
  /// Text frames of the database's own protocol.
  case webSocket
  case redis
  /// The JSON gateway of etcd: responses of HTTP, and the chunks of one that goes on.
  case etcd

  /// One complete response at the front of some bytes.
  struct Answer {
    let length: Int
    /// The offset at which the content begins.
    let start: Int
  }

  /// The complete response at an offset; nil while part of it is still to come.
  func answer(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(LoadError) -> Answer? {
    switch self {
    case .webSocket: try Self.frame(bytes, at: offset)
    case .redis:
      try Self.reply(bytes, at: offset).map { Answer(length: $0 - offset, start: offset) }
    case .etcd: try Self.response(bytes, at: offset)
    }
  }

  func isRefusal(_ answer: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .webSocket: !Self.isOK(answer)
    case .redis: answer.first == UInt8(ascii: "-")
    case .etcd: answer.starts(with: "HTTP/".utf8) && !answer.starts(with: "HTTP/1.1 200".utf8)
    }
  }

  /// Whether a response tells the outcome of a request, and is not data that somebody listens to.
  func isStatus(_ answer: UnsafeRawBufferPointer) -> Bool {
    guard self == .webSocket else { return true }
    let text = String(decoding: answer, as: UTF8.self)
    return text.contains("\"s\":\"") && text.contains("\"r\":")
  }

  // MARK: WebSocket

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
    if bytes[begin] == UInt8(ascii: "H") { return try upgrade(bytes, at: offset) }
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

  /// The response to the handshake together with the greeting, once all of both has arrived.
  private static func upgrade(
    _ bytes: UnsafeRawBufferPointer,
    at offset: Int
  ) throws(LoadError) -> Answer? {
    let rest = bytes[offset...]
    guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    guard rest.starts(with: "HTTP/1.1 101".utf8) else {
      throw LoadError("no WebSocket: \(String(decoding: rest.prefix(200), as: UTF8.self))")
    }
    return try frame(bytes, at: end.upperBound).map { greeting in
      Answer(length: end.upperBound + greeting.length - offset, start: greeting.start)
    }
  }

  // MARK: etcd

  /// A response with its body, the head of one that goes on, or a chunk of such a one.
  private static func response(
    _ bytes: UnsafeRawBufferPointer,
    at offset: Int
  ) throws(LoadError) -> Answer? {
    let rest = bytes[offset...]
    guard rest.starts(with: "HTTP/".utf8) else {
      guard let line = rest.firstIndex(of: UInt8(ascii: "\r")) else { return nil }
      let digits = String(decoding: rest[..<line], as: UTF8.self)
      guard let size = Int(digits, radix: 16) else {
        throw LoadError("a chunk that begins with \(digits)")
      }
      let length = line + 2 + size + 2 - offset
      return length <= rest.count ? Answer(length: length, start: line + 2) : nil
    }
    guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    var length = end.upperBound - offset
    if let name = rest[..<end.upperBound].firstRange(of: Array("Content-Length: ".utf8)) {
      length += try number(bytes, from: name.upperBound)
    }
    return length <= rest.count ? Answer(length: length, start: offset) : nil
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
        throw LoadError("a length that is not a number")
      }
      value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
      index += 1
    }
    return value
  }
}
