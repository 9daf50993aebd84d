private import Glibc
internal import NIOCore

/// Writes to the socket of an unencrypted connection, past its channel.
///
/// The way through a channel costs about as much as the system call at its end, which counts where
/// one message goes to a thousand listeners. It may only be left out while nothing waits in the
/// channel; what the socket does not take at once is the channel's again. Confined to the event
/// loop of the channel.
struct SocketWriter {
  private let channel: any Channel
  private let socket: NIOBSDSocket.Handle

  /// Finds the socket of a channel; nil when it has none of its own, or is closed already.
  init?(_ channel: any Channel) {
    let socket = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
      (socket: NIOBSDSocket.Handle) in socket
    }
    guard let socket else { return nil }
    self.channel = channel
    self.socket = socket
  }

  /// Writes as much as the socket takes without waiting.
  ///
  /// - Returns: How many bytes; 0 also when the connection has failed, which the channel finds out
  ///   when it is given them instead.
  func write(_ bytes: ByteBuffer) -> Int {
    // Safety: a channel closes its socket on its event loop, and is not active any more from then on,
    // so that the number is never that of another connection.
    guard channel.isActive else { return 0 }
    let written = bytes.withUnsafeReadableBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }
    return max(0, written)
  }
}
