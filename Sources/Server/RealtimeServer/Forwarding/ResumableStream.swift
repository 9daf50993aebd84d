internal import NIOCore
internal import RealtimeTransport

/// The event stream of a client whose database another server leads; it outlives the leader.
///
/// If its source ends without a last word to the client, the request is answered again, and the
/// client receives the data that is current then. Confined to the event loop.
final class ResumableStream: HTTPStreamCarrier {
  /// How long the client may receive nothing while the stream has no source.
  private static let patience = TimeAmount.seconds(30)
  private static let pause = TimeAmount.milliseconds(100)
  /// How the events begin after which nothing follows.
  private static let lastWords = ["event: cancel", "event: auth_revoked"].map { Array($0.utf8) }

  private let client: HTTPStream
  /// Answers the request again; the future need not succeed, and is nil if this server is stopping.
  private let answer: () -> EventLoopFuture<HTTPReply>?
  /// The present source; nil while there is none, and once the client has left.
  private var source: HTTPStream?
  private var hasLeft = false
  private var hasSaidLastWord = false
  /// When it last lost its source, unless it has one again.
  private var loss: NIODeadline?

  /// Makes a stream that has no source yet.
  init(to client: HTTPStream, answer: @escaping () -> EventLoopFuture<HTTPReply>?) {
    self.client = client
    self.answer = answer
  }

  /// Gets an answer as its source.
  func feed(_ open: @Sendable (HTTPStream) -> @Sendable () -> Void) {
    let source = HTTPStream(self, on: client.eventLoop)
    self.source = source
    source.open(open)
  }

  func leave() {
    hasLeft = true
    let source = source.take()
    source?.ended()
  }

  private func resume() {
    client.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
      guard !hasLeft else { return }
      guard let answered = answer() else { return client.end() }
      answered.assumeIsolated().whenComplete { [self] result in
        switch result {
        case .success(.stream(_, let open)) where !hasLeft: feed(open)
        case .success(.answer(let answer)) where answer.status < 500: client.end()
        case .success, .failure:
          guard let loss, .now() - loss < Self.patience else { return client.end() }
          resume()
        }
      }
    }
  }

  // MARK: HTTPStreamCarrier

  var isCongested: Bool { client.isCongested }

  func whenRelieved(_ body: @escaping () -> Void) { client.whenRelieved(body) }

  func sendPart(_ bytes: [UInt8]) {
    loss = nil
    if Self.lastWords.contains(where: { bytes.starts(with: $0) }) { hasSaidLastWord = true }
    client.send(bytes)
  }

  func endStream() {
    let source = source.take()
    source?.ended()
    guard !hasLeft else { return }
    loss = loss ?? .now()
    if hasSaidLastWord { client.end() } else { resume() }
  }
}
