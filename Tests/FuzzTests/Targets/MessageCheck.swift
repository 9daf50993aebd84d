import RealtimeCore

/// A message that can be decoded can be encoded, and then decodes to the same message.
enum MessageCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    if let message = try? ClientMessage(decoding: input) {
      let bytes = message.encoded()
      let again = try? ClientMessage(decoding: bytes)
      try demand(again == message, "\(text(bytes)) is another message of a client")
      try demand(again?.encoded() == bytes, "\(text(bytes)) is written in another way")
      if case .request(_, .write(let write)) = message, case .set(let node) = write.operation {
        try checkData(node, at: write.path, of: input)
      }
    }
    if let message = try? ServerMessage(decoding: input) {
      let bytes = message.encoded()
      let again = try? ServerMessage(decoding: bytes)
      try demand(again == message, "\(text(bytes)) is another message of a server")
      try demand(again?.encoded() == bytes, "\(text(bytes)) is written in another way")
      if case .push(.data(let path, let node, _)) = message {
        try checkData(node, at: path, of: input)
      }
    }
  }

  /// Data parsed straight into a node equals the data in the whole message.
  private static func checkData(
    _ node: Node,
    at path: Path,
    of input: [UInt8]
  ) throws(BrokenProperty) {
    // If a member occurs twice, the data that does not count is skipped, not parsed.
    guard !path.isPriority, let json = try? JSONParser.parse(input) else { return }
    let data = json["d"]?["b"]?["d"] ?? .null
    try demand((try? Node(json: data)) == node, "\(text(input)) is understood in two ways")
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
