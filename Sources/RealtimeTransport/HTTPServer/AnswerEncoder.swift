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

  /// A whole answer.
  func encode(_ answer: HTTPAnswer) -> ByteBuffer {
    var buffer = head(of: answer, framing: .length)
    if method != .HEAD, Self.allowsBody(answer.status) { buffer.writeBytes(answer.body) }
    return buffer
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
    var buffer = ByteBufferAllocator().buffer(capacity: text.utf8.count + answer.body.count)
    buffer.writeString(text)
    return buffer
  }

  /// A piece of a body with chunks; an empty one would end it.
  static func chunk(_ bytes: [UInt8]) -> ByteBuffer {
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
