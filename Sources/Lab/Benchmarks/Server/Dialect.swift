/// What is spoken on a connection: how to tell where an answer ends, and whether it is a refusal.
enum Dialect {
  /// Text frames of the database's own protocol.
  case webSocket
  /// The protocol of Redis.
  case redis

  /// One whole answer at the front of some bytes.
  struct Answer {
    /// How many bytes it takes.
    let length: Int
    /// Where what it says begins.
    let start: Int
  }

  /// The whole answer at an offset; nil while some of it is still to come.
  ///
  /// - Throws: ``LoadError`` for what is no answer.
  func answer(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(LoadError) -> Answer? {
    switch self {
    case .webSocket: try Self.frame(bytes, at: offset)
    case .redis:
      try Self.reply(bytes, at: offset).map { Answer(length: $0 - offset, start: offset) }
    }
  }

  /// Whether an answer says that something was not done.
  func isRefusal(_ answer: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .webSocket: !Self.isOK(answer)
    case .redis: answer.first == UInt8(ascii: "-")
    }
  }

  // MARK: WebSocket

  /// Whether an answer has the status `ok`.
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
    let rest = bytes.count - offset
    guard rest >= 2 else { return nil }
    guard bytes[offset] == 0x81 else {
      throw LoadError("a frame that begins with \(bytes[offset]) instead of a text")
    }
    var header = 2
    var length = Int(bytes[offset + 1])
    if length >= 126 {
      let count = length == 126 ? 2 : 8
      guard rest >= 2 + count else { return nil }
      length = 0
      for index in 0..<count { length = length << 8 | Int(bytes[offset + 2 + index]) }
      header += count
    }
    guard rest >= header + length else { return nil }
    return Answer(length: header + length, start: offset + header)
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
