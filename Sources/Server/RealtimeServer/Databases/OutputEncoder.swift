internal import RealtimeTransport

/// Encodes messages for the wire, and encodes once what is sent to many peers in a row.
struct OutputEncoder {
  private var lastBytes: [UInt8] = []
  private var lastMessage: EncodedMessage?

  /// The message on the wire.
  ///
  /// - Complexity: O(1) for an array that shares its memory with the one before, else O(bytes).
  mutating func encode(_ bytes: [UInt8]) -> EncodedMessage {
    if let lastMessage, isLast(bytes) { return lastMessage }
    let message = EncodedMessage(bytes)
    lastBytes = bytes
    lastMessage = message
    return message
  }

  /// Takes over a message that somebody else has encoded, and which is sent next.
  mutating func learn(_ bytes: [UInt8], as message: EncodedMessage) {
    lastBytes = bytes
    lastMessage = message
  }

  /// Gives up what was encoded last, which may be long.
  mutating func forget() {
    lastBytes = []
    lastMessage = nil
  }

  /// Whether an array is the last one, which is kept alive here, so that the address tells.
  private func isLast(_ bytes: [UInt8]) -> Bool {
    // Safety: the addresses are compared and never followed.
    bytes.withUnsafeBufferPointer { new in
      lastBytes.withUnsafeBufferPointer {
        $0.baseAddress == new.baseAddress && $0.count == new.count
      }
    }
  }
}
