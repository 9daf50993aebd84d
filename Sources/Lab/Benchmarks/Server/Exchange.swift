import NIOCore

/// A request, and how many answers it is followed by.
struct Exchange: Sendable {
  let request: ByteBuffer
  let answers: Int
  /// Whether the server must refuse it.
  let isForbidden: Bool

  init(_ request: ByteBuffer, answers: Int = 1, isForbidden: Bool = false) {
    self.request = request
    self.answers = answers
    self.isForbidden = isForbidden
  }
}
