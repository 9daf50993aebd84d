extension DatabaseServer {
  /// Where a server listens, and as what.
  public struct Options: Sendable {
    /// The path of a Unix socket to listen at; only processes of the same user may connect to it.
    public var socketPath: String?
    /// The port of 127.0.0.1 to listen at; 0 lets the system choose one.
    public var port: Int?
    /// The name of the database: 1 to 63 small letters, digits and hyphens.
    public var namespace: String
    /// How long nobody may be connected before the server stops by itself; nil for ever.
    public var idleExit: Duration?
    /// Most connections at a time.
    public var maximumConnections: Int
    /// How often an event stream shows that it is alive.
    package var streamKeepAlive: Duration = .seconds(30)

    /// Makes options; at least one of the socket and the port must be given.
    public init(
      socketPath: String? = nil,
      port: Int? = nil,
      namespace: String = "hearth",
      idleExit: Duration? = nil,
      maximumConnections: Int = 1_024
    ) {
      self.socketPath = socketPath
      self.port = port
      self.namespace = namespace
      self.idleExit = idleExit
      self.maximumConnections = maximumConnections
    }
  }
}

extension DatabaseServer.Options {
  func validate() throws(DatabaseServerError) {
    guard socketPath != nil || port != nil else {
      throw DatabaseServerError(.invalidOptions, "a server needs a socket or a port to listen at")
    }
    if let port, !(0...65_535).contains(port) {
      throw DatabaseServerError(.invalidOptions, "\(port) is not a port")
    }
    guard Self.isNamespace(namespace) else {
      throw DatabaseServerError(
        .invalidOptions,
        "\"\(namespace)\" cannot name a database: only 1 to 63 small letters, digits and hyphens can"
      )
    }
    guard maximumConnections > 0 else {
      throw DatabaseServerError(.invalidOptions, "a server must allow at least one connection")
    }
  }

  static func isNamespace(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
