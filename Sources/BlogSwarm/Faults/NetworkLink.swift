internal import NIOCore

/// The two ends of a connection through a network, and what the client has sent on it.
struct NetworkLink {
  /// The most that is remembered of what a client has sent, in bytes.
  static let recordedBytes = 4 * 1_024 * 1_024

  let process: Int
  let client: any Channel
  let server: any Channel
  /// Everything that the client has sent since the beginning; nil when it was too much.
  private(set) var sent: ByteBuffer? = ByteBuffer()

  init(process: Int, client: any Channel, server: any Channel) {
    self.process = process
    self.client = client
    self.server = server
  }

  /// Notes what the client has sent.
  mutating func record(_ bytes: ByteBuffer) {
    guard let count = sent?.readableBytes, count + bytes.readableBytes <= Self.recordedBytes else {
      sent = nil
      return
    }
    sent?.writeImmutableBuffer(bytes)
  }
}
