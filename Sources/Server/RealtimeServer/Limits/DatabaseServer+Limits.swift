extension DatabaseServer {
  /// The bounds of a server; whoever goes beyond is refused, slowed down or disconnected.
  ///
  /// Every limit also has a name, by which ``set(_:to:)`` changes it; ``table`` lists them.
  public struct Limits: Sendable, Equatable {
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
    /// Most places of one update, except by administrators.
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
}
