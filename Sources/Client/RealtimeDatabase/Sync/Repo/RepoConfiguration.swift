import RealtimeCore

/// The constant settings of an engine.
package struct RepoConfiguration: Sendable {
  /// Identifies this client's writes; unique among all clients that ever connect.
  ///
  /// It is a secret: anyone who knows it can find out the result of writes made while signed out.
  package var clientID: String
  /// The name and version for the server's statistics, with dashes for dots: `sdk.swift.1-0-0`.
  package var statisticsName: String
  /// How often a transaction is sent before it fails.
  package var transactionTries = Limits.transactionTries
  /// The longest pause before a transaction is sent for the third time, in milliseconds.
  ///
  /// There is no pause before the second time; after the third, the limit doubles each time.
  package var transactionRetryDelay: Int64 = 20
  /// The upper limit of the pauses between a transaction's tries, in milliseconds.
  var maximumTransactionRetryDelay: Int64 = 1_000
  /// The second pause between connection attempts, in milliseconds; the first attempt is immediate.
  var minimumReconnectDelay: Int64 = 1_000
  /// The longest pause between connection attempts, in milliseconds.
  package var maximumReconnectDelay: Int64 = 30_000
  /// The factor by which each pause grows.
  var reconnectFactor = 1.3
  /// The fraction of a pause that is random, from 0 through 1.
  var reconnectJitter = 0.7
  /// How long a connection must last before the pauses start from zero again, in milliseconds.
  var stableConnectionTime: Int64 = 30_000
  /// How long an otherwise idle connection may be silent before the client asks the server for a
  /// sign of life, in milliseconds.
  package var keepaliveInterval: Int64 = 45_000
  /// How long a server may send nothing to a client that listens before the client asks it for a
  /// sign of life, in milliseconds.
  var pushSilence: Int64 = 5_000
  /// How long an answer may be overdue before the client pings the server, in milliseconds.
  var probeDelay: Int64 = 1_000
  /// How long requests must be unanswered before users are told of the silence, in milliseconds.
  var noticeableSilence: Int64 = 3_000
  /// How long requests may be unanswered before the connection is closed, in milliseconds.
  ///
  /// The limit doubles, at most to eight times, while connection after connection leaves requests
  /// unanswered.
  package var patience: Int64 = 10_000
  /// The time limit from the start of an attempt to the server's greeting, in milliseconds.
  var connectTimeout: Int64 = 30_000
  /// Whether to open a second connection to the database's own host, in search of another server,
  /// while a server leaves requests unanswered for a noticeable time.
  package var opensSpares = false
  /// How long a read waits for a connection before it falls back to older data, in milliseconds.
  ///
  /// Nil means forever.
  var getDeadline: Int64?
  /// Whether later connections go to the host that the server named in its greeting.
  var followsServerHost = false
  /// The children of the root below which writes end with the connection they were made on.
  var ephemeral: Set<ChildKey> = []

  /// The size in bytes above which a store is pruned; data in use is never dropped.
  var offlineBytes: Int64 = 10 * 1_024 * 1_024
  /// The maximum number of unused queries that a store keeps.
  var offlineQueries = 1_000

  /// Makes a configuration with the official clients' defaults.
  package init(clientID: String, statisticsName: String) {
    self.clientID = clientID
    self.statisticsName = statisticsName
  }

  /// Whether a write at a path is neither stored nor sent on a later connection.
  func isEphemeral(_ path: Path) -> Bool { path.keys.first.map(ephemeral.contains) ?? false }
}
