import RealtimeCore

/// The locations that tell about the client itself.
enum InfoPath {
  static let root = ChildKey(".info")
  static let connected = Path([root, "connected"])
  static let serverTimeOffset = Path([root, "serverTimeOffset"])
}

extension Path {
  /// Whether this location tells about the client and is never sent.
  var isInfo: Bool { first == InfoPath.root }
}
