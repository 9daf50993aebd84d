extension DatabaseServer.Limits {
  /// A limit as it is set by name.
  public struct Entry: Sendable {
    /// The name, such as `listens`.
    public let name: String
    /// What is limited, in a phrase.
    public let summary: String
    /// The smallest value that makes sense.
    public let minimum: Int
    /// The largest value that there can be.
    public let maximum: Int

    let path: any WritableKeyPath<DatabaseServer.Limits, Int> & Sendable

    /// The value where nothing else is said.
    public var defaultValue: Int { DatabaseServer.Limits()[keyPath: path] }
  }

  /// Every limit, in the order of documentation.
  public static let table: [Entry] = [
    entry("connections", \.connections, "connections at a time"),
    entry("connections-per-user", \.connectionsPerUser, "connections of a user to a database"),
    entry("databases", \.databases, "databases open at a time"),
    entry("listens", \.listens, "listens of a connection"),
    entry("listens-warning", \.listensWarning, "listens of it that the log notes"),
    entry("requests", \.requests, "its requests that wait for the disk"),
    entry("frame-bytes", \.frameBytes, "a WebSocket frame", from: 1_024),
    entry("message-frames", \.messageFrames, "frames of a message"),
    entry("message-bytes", \.messageBytes, "a message", from: 1_024),
    entry("message-seconds", \.messageSeconds, "from a message's first frame to its last"),
    entry(
      "output-coalesce-bytes",
      \.outputCoalesceBytes,
      "waiting output before changes join"
    ),
    entry("output-bytes", \.outputBytes, "waiting output before it is cut off"),
    entry("output-seconds", \.outputSeconds, "reading nothing while output waits"),
    entry(
      "disconnect-writes",
      \.disconnectWrites,
      "writes scheduled for its end",
      from: 0
    ),
    entry(
      "disconnect-bytes",
      \.disconnectBytes,
      "JSON of the writes for its end",
      from: 0
    ),
    entry("sign-in-seconds", \.signInSeconds, "to sign in, where the rules want it"),
    entry("handshake-seconds", \.handshakeSeconds, "to open a connection"),
    entry("header-bytes", \.headerBytes, "the header of a request", from: 256),
    entry("header-lines", \.headerLines, "lines in that header", from: 8),
    entry("body-bytes", \.bodyBytes, "the body of a request", from: 0),
    entry("request-seconds", \.requestSeconds, "for a request to arrive"),
    entry("keep-alive-seconds", \.keepAliveSeconds, "between requests of a connection"),
    entry("data-depth", \.dataDepth, "keys from the root to a leaf", to: 32),
    entry("json-depth", \.jsonDepth, "nesting of JSON that is read", from: 8, to: 64),
    entry("response-bytes", \.responseBytes, "the data in one answer"),
    entry("update-places", \.updatePlaces, "places of an update"),
    entry("write-values", \.writeValues, "values of a write"),
    entry("rule-steps", \.ruleSteps, "steps of the rules for a request", from: 1_000),
    entry(
      "unindexed-children",
      \.unindexedChildren,
      "children looked at without an index",
      from: 0
    ),
    entry("writes-per-second", \.writesPerSecond, "writes a second of a user"),
    entry("write-burst", \.writeBurst, "writes of a user at once"),
    entry(
      "write-bytes-per-minute",
      \.writeBytesPerMinute,
      "bytes a user writes a minute",
      from: 60
    ),
    entry(
      "stranger-bytes",
      \.strangerBytes,
      "a message or body of nobody",
      from: 1_024
    ),
    entry("memory-mebibytes", \.memoryMebibytes, "memory for what is on its way; 0: any", from: 0),
    entry(
      "resident-mebibytes",
      \.residentMebibytes,
      "all memory before listens fail; 0: any",
      from: 0
    ),
    entry("stream-seconds", \.streamSeconds, "between signs of life of an event stream"),
  ]

  private static func entry(
    _ name: String,
    _ path: any WritableKeyPath<DatabaseServer.Limits, Int> & Sendable,
    _ summary: String,
    from minimum: Int = 1,
    to maximum: Int = most
  ) -> Entry {
    Entry(name: name, summary: summary, minimum: minimum, maximum: maximum, path: path)
  }

  /// Sets a limit by its name.
  ///
  /// - Parameters:
  ///   - name: One of the names of ``table``.
  ///   - value: The new bound.
  /// - Throws: ``DatabaseServerError`` when there is no such limit, or the value makes no sense.
  /// - Complexity: O(limits)
  public mutating func set(_ name: String, to value: Int) throws(DatabaseServerError) {
    guard let entry = Self.table.first(where: { $0.name == name }) else {
      let names = Self.table.map(\.name).joined(separator: ", ")
      throw DatabaseServerError(
        .invalidOptions,
        "there is no limit \"\(name)\"; there are \(names)"
      )
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
      throw DatabaseServerError(
        .invalidOptions,
        "the limit \(entry.name) must be from \(entry.minimum) to \(entry.maximum), not \(value)"
      )
    }
  }

  /// Keeps sums and times of limits far from the end of the numbers.
  private static let most = 1 << 40
}
