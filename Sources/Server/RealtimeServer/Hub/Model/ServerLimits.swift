/// The limits of a server; a client that exceeds one is refused, slowed down or disconnected.
///
/// Every limit also has a name, which ``set(_:to:)`` takes; ``table`` lists the names.
public struct ServerLimits: Sendable, Equatable {
  /// The maximum number of connections, including event streams and requests in progress.
  public var connections = 1_024
  /// The maximum number of connections from one IPv4 address, or from the IPv6 addresses with the
  /// same first 64 bits.
  ///
  /// Behind a proxy, all clients have its address.
  public var connectionsPerAddress = 512
  /// The maximum number of connections of one signed-in user to one database.
  public var connectionsPerUser = 64
  /// The maximum number of databases that are open at a time.
  public var databases = 100
  /// The maximum number of listens of one connection.
  public var listens = 10_000
  /// The maximum cost of the listens of one signed-in user to one database.
  ///
  /// A listen costs one. A filter that nobody else uses, many filters at one location, and an order
  /// without an index in the rules cost more, since each commit there takes longer.
  public var listensPerUser = 20_000
  /// The same for all together who have not signed in, or only anonymously.
  public var guestListens = 20_000
  /// The maximum number of event streams from one address, or from the IPv6 addresses with the same
  /// first 64 bits, of clients that have not signed in, or only anonymously.
  ///
  /// Those of other users count towards ``connectionsPerUser``.
  public var guestStreams = 128
  /// The number of listens of one connection above which the log notes it.
  public var listensWarning = 200
  /// Requests of one connection that may wait for the disk before the server reads no more of them.
  public var requests = 1_000
  /// The longest WebSocket frame accepted, in bytes.
  public var frameBytes = 64 * 1_024
  /// The maximum number of frames in one message.
  public var messageFrames = 1_024
  /// The longest message accepted, in bytes.
  public var messageBytes = 16 * 1_024 * 1_024
  /// How long a message may take from its first to its last frame, in seconds.
  public var messageSeconds = 30
  /// Output that may wait for a client before only the latest data is sent instead of every change,
  /// in bytes.
  public var outputCoalesceBytes = 8 * 1_024 * 1_024
  /// Output that may wait for a client before it is disconnected, in bytes.
  public var outputBytes = 64 * 1_024 * 1_024
  /// How long a client may read nothing while output waits for it, in seconds.
  public var outputSeconds = 10
  /// The maximum number of writes that one connection may schedule for its disconnection.
  public var disconnectWrites = 10_000
  /// The maximum size of the writes that one connection schedules for its disconnection, as JSON
  /// with their paths, in bytes.
  public var disconnectBytes = 1_024 * 1_024
  /// How long a connection that the rules allow nothing may stay open without signing in, in
  /// seconds.
  public var signInSeconds = 10
  /// How long a handshake may take, in seconds.
  public var handshakeSeconds = 10
  /// The longest header of a request, over all of its lines, in bytes.
  public var headerBytes = 8 * 1_024
  /// The maximum number of lines in the header of a request.
  public var headerLines = 64
  /// The longest body of a request, in bytes.
  public var bodyBytes = 16 * 1_024 * 1_024
  /// How long a request may take to arrive, in seconds.
  public var requestSeconds = 30
  /// How long a connection may wait for its next request, in seconds.
  public var keepAliveSeconds = 60
  /// The maximum number of keys from the root to a leaf of the data.
  public var dataDepth = 32
  /// The maximum nesting of JSON that is parsed, including the message around the data.
  public var jsonDepth = 64
  /// The most data in one response, in bytes of JSON.
  public var responseBytes = 256 * 1_024 * 1_024
  /// The maximum number of paths in one update, except for administrators.
  public var updatePlaces = 10_000
  /// The maximum number of values in one write, except for administrators.
  public var writeValues = 250_000
  /// The maximum number of steps that the rules may take for one request.
  public var ruleSteps = 2_000_000
  /// The maximum number of children that a query without an index may scan.
  public var unindexedChildren = 10_000
  /// Writes per second that one signed-in user may make to one database over time.
  public var writesPerSecond = 200
  /// Writes that one signed-in user may make to one database in a burst.
  public var writeBurst = 1_000
  /// Bytes that one signed-in user may write to one database per minute over time, and in a burst.
  public var writeBytesPerMinute = 64 * 1_024 * 1_024
  /// The longest message or body, in bytes, of a client that has not signed in, where the rules let
  /// such clients write nothing.
  ///
  /// It is also the amount that any client may send without waiting for memory.
  public var strangerBytes = 64 * 1_024
  /// Memory for all data in transit, in mebibytes; 0 means no limit.
  ///
  /// Incomplete messages and bodies count towards it, as do answers that no client has read yet.
  /// Beyond it clients have to wait: long bodies are not read, and answers are not made.
  public var memoryMebibytes = 128
  /// Memory of the process above which listens are refused, in mebibytes; 0 means no limit.
  public var residentMebibytes = 0
  /// How long a long-polling client may make no request, in seconds.
  public var pollSeconds = 60
  /// The number of clients of a database that another server leads from which on this server keeps
  /// a copy of it, to answer what they read; 0 means never.
  public var followClients = 16
  /// How often an event stream sends a keep-alive, in seconds.
  public var streamSeconds = 30

  // What no option changes:

  /// The cost up to which the listens of the guests of one network are granted whatever others have.
  package var freeListens = 64
  /// The maximum number of orders of one location that listens need and the rules do not declare.
  package var undeclaredOrders = 64
  /// The maximum number of users as whom one connection schedules writes.
  package var disconnectIdentities = 16
  /// The maximum number of times that the rules are asked about the writes of a closed connection.
  package var disconnectTries = 256
  /// The maximum number of commits that are not stored yet.
  package var pendingCommits = 10_000
  /// The maximum number of closed connections whose writes wait for the store; the oldest are
  /// dropped.
  package var overdueDisconnects = 1_000
  /// The maximum number of clients whose writes are remembered, separately for those signed in and
  /// not.
  package var ledgerClients = 10_000
  /// The maximum number of runs of refused writes that are remembered for one client.
  package var rememberedRefusals = 128
  /// Data of about this length in bytes or more is encoded outside the hub.
  package var composedBytes = 32 * 1_024
  /// The maximum number of orders of children that are kept while no listen needs them.
  package var keptOrders = 256
  /// The maximum number of children in all orders that are kept while no listen needs them.
  package var keptOrderedChildren = 1_000_000

  /// Makes the default limits.
  public init() {}
}
