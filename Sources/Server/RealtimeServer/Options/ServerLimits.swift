private import Glibc
internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

/// The bounds of a server; whoever goes beyond is refused, slowed down or disconnected.
///
/// Every limit also has a name, by which ``set(_:to:)`` changes it; ``table`` lists them.
public struct ServerLimits: Sendable, Equatable {
  /// Most connections at a time, event streams and requests under way included.
  public var connections = 1_024
  /// Most connections of one signed-in user to one database.
  public var connectionsPerUser = 64
  /// Most databases that are open at a time.
  public var databases = 100
  /// Most listens of one connection.
  public var listens = 10_000
  /// The number of listens of one connection that is noted in the log.
  public var listensWarning = 200
  /// Requests of one connection that wait for the disk before no more are read.
  public var requests = 1_000
  /// Longest WebSocket frame that is read, in bytes.
  public var frameBytes = 64 * 1_024
  /// Most frames of one message.
  public var messageFrames = 1_024
  /// Longest message that is read, in bytes.
  public var messageBytes = 16 * 1_024 * 1_024
  /// How long a message may take from its first to its last frame, in seconds.
  public var messageSeconds = 30
  /// Output that may wait for a client before changes are replaced by the newest data, in bytes.
  public var outputCoalesceBytes = 8 * 1_024 * 1_024
  /// Output that may wait for a client before it is disconnected, in bytes.
  public var outputBytes = 64 * 1_024 * 1_024
  /// How long a client may read nothing while output waits for it, in seconds.
  public var outputSeconds = 10
  /// Most writes that one connection schedules for its end.
  public var disconnectWrites = 10_000
  /// Most JSON of the writes that one connection schedules for its end, in bytes, with their paths.
  public var disconnectBytes = 1_024 * 1_024
  /// How long a connection that the rules allow nothing may take to sign in, in seconds.
  public var signInSeconds = 10
  /// How long a handshake may take, in seconds.
  public var handshakeSeconds = 10
  /// Longest header of a request, in bytes, all lines together.
  public var headerBytes = 8 * 1_024
  /// Most lines in the header of a request.
  public var headerLines = 64
  /// Longest body of a request, in bytes.
  public var bodyBytes = 16 * 1_024 * 1_024
  /// How long a request may take to arrive, in seconds.
  public var requestSeconds = 30
  /// How long a connection may wait for its next request, in seconds.
  public var keepAliveSeconds = 60
  /// Most keys from the root to a leaf of the data.
  public var dataDepth = 32
  /// Deepest nesting of JSON that is read at all, a message around the data included.
  public var jsonDepth = 64
  /// Longest data in one answer, in bytes of JSON.
  public var responseBytes = 256 * 1_024 * 1_024
  /// Most paths of one update, except by administrators.
  public var updatePlaces = 10_000
  /// Most values of one write, except by administrators.
  public var writeValues = 250_000
  /// Most steps that the rules may take for one request.
  public var ruleSteps = 2_000_000
  /// Most children that a query without an index looks through.
  public var unindexedChildren = 10_000
  /// Writes a second of one signed-in user to one database, over some time.
  public var writesPerSecond = 200
  /// Writes of one signed-in user to one database that may come at once.
  public var writeBurst = 1_000
  /// What may be written for one signed-in user to one database in a minute, over some time, and at
  /// once, in bytes of requests.
  public var writeBytesPerMinute = 64 * 1_024 * 1_024
  /// Longest message or body of those who have not signed in, where the rules let them write nothing,
  /// in bytes; and what everyone may send without having to wait for memory.
  public var strangerBytes = 64 * 1_024
  /// Memory for all that is on its way, in mebibytes; 0 is no bound.
  ///
  /// Messages and bodies that are not complete and answers that nobody has read yet have their parts
  /// of it. Whoever needs more has to wait: long bodies are not read, answers are not made.
  public var memoryMebibytes = 128
  /// Memory of the process beyond which listens are refused, in mebibytes; 0 is no bound.
  public var residentMebibytes = 0
  /// How often an event stream shows that it is alive, in seconds.
  public var streamSeconds = 30

  /// Makes the default limits.
  public init() {}
}

extension ServerLimits {
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

    let path: any WritableKeyPath<ServerLimits, Int> & Sendable

    /// The value where nothing else is said.
    public var defaultValue: Int { ServerLimits()[keyPath: path] }
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
    _ path: any WritableKeyPath<ServerLimits, Int> & Sendable,
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
        description: "there is no limit \"\(name)\"; there are \(names)"
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
        description:
          "the limit \(entry.name) must be from \(entry.minimum) to \(entry.maximum), not \(value)"
      )
    }
  }

  /// Keeps sums and times of limits far from the end of the numbers.
  private static let most = 1 << 40
}

extension ServerLimits {
  /// Connections beyond the limit that are told so; further ones are cut off at once.
  static let spareConnections = 64

  /// What concerns the hub of a database.
  var hub: HubLimits {
    var limits = HubLimits()
    limits.listensPerPeer = listens
    limits.disconnectWritesPerPeer = disconnectWrites
    limits.disconnectBytesPerPeer = disconnectBytes
    limits.unindexedChildren = unindexedChildren
    limits.responseBytes = responseBytes
    limits.updatePlaces = updatePlaces
    limits.writeValues = writeValues
    limits.ruleSteps = ruleSteps
    limits.dataDepth = dataDepth
    return limits
  }

  /// What all connections share.
  ///
  /// An eighth is for what strangers send and a quarter for what others do; as much for answers, and
  /// once more for those to clients that have nothing waiting yet. The rest is for what is made of it.
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

  /// What concerns connections.
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
    limits.connections = connections + Self.spareConnections
    return limits
  }
}

/// How many files and connections this process may have open.
enum FileDescriptorLimit {
  /// What is left for files and for connections that are only being refused.
  private static let reserve = ServerLimits.spareConnections + 128

  /// How many connections the system lets this process have, or nil when it does not tell.
  static var connections: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return max(1, Int(clamping: limit.rlim_cur) - reserve)
  }
}
