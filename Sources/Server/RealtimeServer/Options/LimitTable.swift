internal import NIOCore
internal import RealtimeTransport

extension ServerLimits {
  /// A limit that can be set by its name.
  public struct Entry: Sendable {
    /// The name, such as `listens`.
    public let name: String
    /// A phrase that says what is limited.
    public let summary: String
    /// The smallest value allowed.
    public let minimum: Int
    /// The largest value allowed.
    public let maximum: Int

    let path: any WritableKeyPath<ServerLimits, Int> & Sendable

    /// The default value.
    public var defaultValue: Int { ServerLimits()[keyPath: path] }
  }

  /// All limits, in the order in which they are documented.
  public static let table: [Entry] = [
    entry("connections", \.connections, "connections at a time"),
    entry("connections-per-address", \.connectionsPerAddress, "connections from an address"),
    entry("connections-per-user", \.connectionsPerUser, "connections of a user to a database"),
    entry("databases", \.databases, "databases open at a time"),
    entry("listens", \.listens, "listens of a connection"),
    entry("listens-per-user", \.listensPerUser, "listens of a user to a database"),
    entry("guest-listens", \.guestListens, "listens of all guests to a database"),
    entry("guest-streams", \.guestStreams, "event streams of an address's guests"),
    entry("listens-warning", \.listensWarning, "listens before the log warns"),
    entry("requests", \.requests, "queued requests of a connection"),
    entry("frame-bytes", \.frameBytes, "a WebSocket frame", from: 1_024),
    entry("message-frames", \.messageFrames, "frames of a message"),
    entry("message-bytes", \.messageBytes, "a message", from: 1_024),
    entry("message-seconds", \.messageSeconds, "from a message's first frame to its last"),
    entry(
      "output-coalesce-bytes",
      \.outputCoalesceBytes,
      "unread output before changes merge"
    ),
    entry("output-bytes", \.outputBytes, "unread output before disconnecting"),
    entry("output-seconds", \.outputSeconds, "without reading while output waits"),
    entry(
      "disconnect-writes",
      \.disconnectWrites,
      "writes scheduled for a disconnect",
      from: 0
    ),
    entry(
      "disconnect-bytes",
      \.disconnectBytes,
      "the JSON of those writes",
      from: 0
    ),
    entry("sign-in-seconds", \.signInSeconds, "to sign in, where rules require it"),
    entry("handshake-seconds", \.handshakeSeconds, "to open a connection"),
    entry("header-bytes", \.headerBytes, "the header of a request", from: 256),
    entry("header-lines", \.headerLines, "lines in that header", from: 8),
    entry("body-bytes", \.bodyBytes, "the body of a request", from: 0),
    entry("request-seconds", \.requestSeconds, "for a request to arrive"),
    entry("keep-alive-seconds", \.keepAliveSeconds, "between requests of a connection"),
    entry("data-depth", \.dataDepth, "keys from the root to a leaf", to: 32),
    entry("json-depth", \.jsonDepth, "nesting of parsed JSON", from: 8, to: 64),
    entry("response-bytes", \.responseBytes, "the data in one response"),
    entry("update-places", \.updatePlaces, "paths in an update"),
    entry("write-values", \.writeValues, "values in a write"),
    entry("rule-steps", \.ruleSteps, "rule evaluation steps of a request", from: 1_000),
    entry(
      "unindexed-children",
      \.unindexedChildren,
      "children scanned without an index",
      from: 0
    ),
    entry("writes-per-second", \.writesPerSecond, "a user's writes per second"),
    entry("write-burst", \.writeBurst, "a user's writes in a burst"),
    entry(
      "write-bytes-per-minute",
      \.writeBytesPerMinute,
      "bytes a user writes per minute",
      from: 60
    ),
    entry(
      "stranger-bytes",
      \.strangerBytes,
      "a message or body before sign-in",
      from: 1_024
    ),
    entry(
      "memory-mebibytes",
      \.memoryMebibytes,
      "memory for data in transit; 0: no limit",
      from: 0
    ),
    entry(
      "resident-mebibytes",
      \.residentMebibytes,
      "memory before listens fail; 0: no limit",
      from: 0
    ),
    entry(
      "follow-clients",
      \.followClients,
      "clients from which a database is copied; 0: never",
      from: 0
    ),
    entry("poll-seconds", \.pollSeconds, "between requests of a long-polling client"),
    entry("stream-seconds", \.streamSeconds, "between keep-alives of an event stream"),
  ]

  private static func entry(
    _ name: String,
    _ path: any WritableKeyPath<ServerLimits, Int> & Sendable,
    _ summary: String,
    from minimum: Int = 1,
    to maximum: Int? = nil
  ) -> Entry {
    Entry(
      name: name,
      summary: summary,
      minimum: minimum,
      maximum: maximum ?? (name.hasSuffix("-seconds") ? longest : most),
      path: path
    )
  }

  /// Sets a limit by its name.
  ///
  /// - Parameters:
  ///   - name: One of the names of ``table``.
  ///   - value: The new value.
  /// - Throws: ``DatabaseServerError`` when there is no such limit, or the value is out of range.
  /// - Complexity: O(limits)
  public mutating func set(_ name: String, to value: Int) throws(DatabaseServerError) {
    guard let entry = Self.table.first(where: { $0.name == name }) else {
      let names = Self.table.map(\.name).joined(separator: ", ")
      throw .invalid("there is no limit \"\(name)\"; the limits are \(names)")
    }
    self[keyPath: entry.path] = value
    try validate(entry)
  }

  func validate() throws(DatabaseServerError) {
    for entry in Self.table { try validate(entry) }
  }

  private func validate(_ entry: Entry) throws(DatabaseServerError) {
    let value = self[keyPath: entry.path]
    guard (entry.minimum...entry.maximum).contains(value) else {
      throw .invalid(
        "the limit \(entry.name) must be from \(entry.minimum) to \(entry.maximum), not \(value)"
      )
    }
  }

  /// Keeps sums of limits far from overflow.
  private static let most = 1 << 40
  /// The longest time in seconds, 31 years: several of them are less than 2⁶³ nanoseconds.
  private static let longest = 1_000_000_000
}

extension ServerLimits {
  /// Connections beyond the limit that are refused with an answer; any more are closed at once.
  static let spareConnections = 64
  /// Connections beyond the limit that only the private socket has.
  static let reservedConnections = 16

  /// The memory that all connections share.
  ///
  /// Input from strangers gets an eighth, other input a quarter. Output gets a quarter, and another
  /// quarter is for answers to clients that have no output waiting yet. The rest is for what the
  /// server makes of the input.
  var memory: ConnectionMemory.Bounds {
    var bounds = ConnectionMemory.Bounds()
    bounds.share = strangerBytes
    guard memoryMebibytes > 0 else { return bounds }
    let bytes = memoryMebibytes * 1_024 * 1_024
    bounds.strangers = bytes / 8
    bounds.others = bytes / 4
    bounds.output = bytes / 4
    return bounds
  }

  /// The limits that connections enforce.
  var transport: TransportLimits {
    var limits = TransportLimits.server
    limits.frameBytes = frameBytes
    limits.messageBytes = messageBytes
    limits.messageFrames = messageFrames
    limits.handshake = .seconds(Int64(handshakeSeconds))
    limits.reassembly = .seconds(Int64(messageSeconds))
    limits.congestionBytes = outputCoalesceBytes
    limits.pendingBytes = outputBytes
    limits.stall = .seconds(Int64(outputSeconds))
    limits.headerBytes = headerBytes
    limits.headerLines = headerLines
    limits.bodyBytes = bodyBytes
    limits.request = .seconds(Int64(requestSeconds))
    limits.keepAlive = .seconds(Int64(keepAliveSeconds))
    limits.silence = .seconds(Int64(pollSeconds))
    limits.connections = connections + Self.spareConnections
    limits.connectionsPerAddress = connectionsPerAddress
    return limits
  }
}
