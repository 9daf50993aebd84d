package import NIOCore
internal import NIOHTTP1

package struct HTTPAnswer: Hashable, Sendable {
  package struct HeaderLine: Hashable, Sendable {
    package let name: String
    /// The value; when it is sent, characters other than printable ASCII are replaced.
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var status: Int
  package var contentType: String?
  /// Additional header lines; Content-Length and Connection are added automatically.
  package var headerLines: [HeaderLine]
  /// The body; it is omitted if the method or the status does not allow one.
  package var body: [UInt8]

  package init(
    status: Int,
    contentType: String?,
    headerLines: [HeaderLine] = [],
    body: [UInt8]
  ) {
    self.status = status
    self.contentType = contentType
    self.headerLines = headerLines
    self.body = body
  }

  /// Makes a response whose body is a JSON object with a member "error".
  ///
  /// The reason must be in printable ASCII, without quotes and backslashes.
  package init(status: Int, error: StaticString) {
    self.init(
      status: status,
      contentType: "application/json; charset=utf-8",
      body: Array("{\"error\":\"\(error)\"}\n".utf8)
    )
  }
}

/// What a server replies to a plain HTTP request: a whole response or a stream.
package enum HTTPReply: Sendable {
  case answer(HTTPAnswer)
  /// A header, followed by a streamed body; the body of the response value is not used.
  ///
  /// The closure receives the stream on the server's event loop; what it sends follows the header.
  /// It returns a closure that is called when the stream ends, for whatever reason.
  case stream(HTTPAnswer, open: @Sendable (HTTPStream) -> @Sendable () -> Void)
}

/// What carries the pieces of a streamed body to a client; used on the server's event loop only.
package protocol HTTPStreamCarrier: AnyObject {
  /// Whether so much output is waiting that the server should send less.
  var isCongested: Bool { get }

  /// Calls a closure once, as soon as the client has caught up; never if it disconnects first.
  func whenRelieved(_ body: @escaping () -> Void)

  func sendPart(_ bytes: [UInt8])

  /// Ends the body, and reports the end to the stream.
  func endStream()
}

/// The streamed body of a response; all calls must be made on the server's event loop.
package final class HTTPStream: Sendable {
  package var eventLoop: any EventLoop { state.eventLoop }

  private let state: NIOLoopBoundBox<State>

  private struct State {
    var carrier: (any HTTPStreamCarrier)?
    var onEnd: (@Sendable () -> Void)?
    var hasEnded = false
  }

  /// Makes a stream whose pieces a carrier sends.
  package init(_ carrier: any HTTPStreamCarrier, on eventLoop: any EventLoop) {
    state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    state.value.carrier = carrier
  }

  private var carrier: (any HTTPStreamCarrier)? { state.value.carrier }

  /// Sends a piece of the body; ignored once the stream has ended.
  package func send(_ bytes: [UInt8]) {
    carrier?.sendPart(bytes)
  }

  package var isCongested: Bool { carrier?.isCongested ?? false }

  package func whenRelieved(_ body: @escaping () -> Void) {
    carrier?.whenRelieved(body)
  }

  package func end() {
    carrier?.endStream()
  }

  /// Has the stream used by a closure, which returns what to call when it ends.
  package func open(_ body: @Sendable (HTTPStream) -> @Sendable () -> Void) {
    let onEnd = body(self)
    // Output sent while the stream opens may already have ended it.
    if state.value.hasEnded { onEnd() } else { state.value.onEnd = onEnd }
  }

  /// Reports that the stream has ended, for whatever reason.
  package func ended() {
    let onEnd = state.value.onEnd
    state.value = State(hasEnded: true)
    onEnd?()
  }
}

struct AnswerEncoder {
  /// How the end of a body is marked.
  enum Framing {
    case length
    /// By a last, empty chunk.
    case chunks
    case end
  }

  /// The method of the request, which determines whether there is a body.
  let method: HTTPMethod
  /// Whether another request may follow on the connection.
  let keepsAlive: Bool

  /// The longest piece of a response, in bytes.
  private static let pieceBytes = 256 * 1_024

  /// Encodes a whole response in pieces, each of which can be released once it has been written.
  func encode(_ answer: HTTPAnswer) -> [ByteBuffer] {
    var head = head(of: answer, framing: .length)
    guard method != .HEAD, Self.allowsBody(answer.status) else { return [head] }
    guard answer.body.count <= Self.pieceBytes else {
      return [head] + Self.pieces(of: answer.body).map { ByteBuffer(bytes: $0) }
    }
    head.writeBytes(answer.body)
    return [head]
  }

  /// Splits a body into pieces, each of which can be released once it has been written.
  static func pieces(of body: [UInt8]) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: body.count, by: pieceBytes).map {
      body[$0..<min($0 + pieceBytes, body.count)]
    }
  }

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

  /// Encodes a chunk of a chunked body, which must not be empty.
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

  /// Replaces characters that could end the line of a text.
  private static func cleaned(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
  }
}
