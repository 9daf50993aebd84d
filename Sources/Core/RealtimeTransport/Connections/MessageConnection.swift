/// A server's connection to one client, whatever carries its messages; used on the server's event
/// loop only.
package protocol MessageConnection: AnyObject {
  var peer: Peer { get }

  /// The request that opened the connection; nil after the connection has been accepted.
  var request: HTTPRequest? { get }

  /// Whether the waiting output exceeds a few small messages.
  var hasNotableOutput: Bool { get }

  /// Whether so much output is waiting that the server should send less.
  var isCongested: Bool { get }

  /// Sends a message; ignored once the connection is closing.
  func send(_ message: EncodedMessage)

  /// Sends a message unless ``isCongested``; ignored once the connection is closing.
  ///
  /// - Returns: Whether the connection was not congested.
  func sendUnlessCongested(_ message: EncodedMessage) -> Bool

  /// Sets the limits for the client from its next message on.
  ///
  /// - Parameters:
  ///   - isStranger: Whether it uses the memory of clients that have not signed in.
  ///   - messageBytes: The longest message; longer ones are skipped.
  func allow(isStranger: Bool, messageBytes: Int)

  /// Calls a closure once, as soon as the client has caught up; never if it disconnects first.
  func whenRelieved(_ body: @escaping () -> Void)

  /// Whether the client may go on with its session although this connection has ended.
  var mayReturn: Bool { get }

  /// Sends a ping if nothing has been sent since the last call, for proxies that cut silent
  /// connections.
  func keepAlive()

  /// Pauses or resumes reading; no messages are delivered while it is paused.
  func setReading(_ isReading: Bool)

  /// Sends the remaining output, tells the client that this is the end, then closes.
  func close(code: UInt16, reason: String)
}

extension MessageConnection {
  package var mayReturn: Bool { false }

  package func sendUnlessCongested(_ message: EncodedMessage) -> Bool {
    guard !isCongested else { return false }
    send(message)
    return true
  }
}
