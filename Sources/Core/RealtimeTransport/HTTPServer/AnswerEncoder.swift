internal import NIOCore
internal import NIOHTTP1

/// Writes answers to HTTP requests as bytes.
struct AnswerEncoder {
  /// How the end of a body is told.
  enum Framing {
    /// By its length.
    case length
    /// By a last, empty chunk.
    case chunks
    /// By the end of the connection.
    case end
  }

  /// The method of the request, which decides whether there is a body.
  let method: HTTPMethod
  /// Whether another request may follow on the connection.
  let keepsAlive: Bool

  /// How long a piece of an answer is at most.
  private static let pieceBytes = 256 * 1_024

  /// A whole answer, in pieces each of which can be given up as soon as it has been written.
  func encode(_ answer: HTTPAnswer) -> [ByteBuffer] {
    var head = head(of: answer, framing: .length)
    guard method != .HEAD, Self.allowsBody(answer.status) else { return [head] }
    guard answer.body.count <= Self.pieceBytes else {
      return [head] + Self.pieces(of: answer.body).map { ByteBuffer(bytes: $0) }
    }
    head.writeBytes(answer.body)
    return [head]
  }

  /// Cuts a body, so that none of it need be kept until all has been written.
  static func pieces(of body: [UInt8]) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: body.count, by: pieceBytes).map {
      body[$0..<min($0 + pieceBytes, body.count)]
    }
  }

  /// The header of an answer.
  func head(of answer: HTTPAnswer, framing: Framing) -> ByteBuffer {
    let status = HTTPResponseStatus(statusCode: answer.status)
    var text = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
    if Self.allowsBody(answer.status) {
      if let type = answer.contentType { text += "Content-Type: \(Self.cleaned(type))\r\n" }
      switch framing {
      case .length: text += "Content-Length: \(answer.body.count)\r\n"
      case .chunks: text += "Transfer-Encoding: chunked\r\n"
      case .end: break
      }
    }
    for line in answer.headerLines {
      text += "\(Self.cleaned(line.name)): \(Self.cleaned(line.value))\r\n"
    }
    text += keepsAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n"
    var buffer = ByteBufferAllocator().buffer(
      capacity: text.utf8.count + min(answer.body.count, Self.pieceBytes)
    )
    buffer.writeString(text)
    return buffer
  }

  /// A piece of a body with chunks; an empty one would end it.
  static func chunk(_ bytes: ArraySlice<UInt8>) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: bytes.count + 20)
    buffer.writeString(String(bytes.count, radix: 16) + "\r\n")
    buffer.writeBytes(bytes)
    buffer.writeString("\r\n")
    return buffer
  }

  private static func allowsBody(_ status: Int) -> Bool {
    status >= 200 && status != 204 && status != 304
  }

  /// A text that cannot end its line.
  private static func cleaned(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
  }
}
