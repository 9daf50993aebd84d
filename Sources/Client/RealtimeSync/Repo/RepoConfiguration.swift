import RealtimeCore

/// The settings of an engine, which never change.
package struct RepoConfiguration: Sendable {
  /// Names the writes of this client; unique among all clients that ever connect.
  ///
  /// It is a secret: whoever knows it can find out the result of writes made while signed out.
  package var clientID: String
  /// The name and version for the server's statistics, with dashes for dots: `sdk.swift.1-0-0`.
  package var statisticsName: String
  /// How often a transaction is sent before it gives up.
  package var transactionTries = Limits.transactionTries
  /// The longest pause before a transaction is sent a third time, in milliseconds.
  ///
  /// There is no pause before the second time; after the third, the limit doubles each time.
  package var transactionRetryDelay: Int64 = 20
  /// The limit of the pauses between two tries of a transaction, in milliseconds.
  package var maximumTransactionRetryDelay: Int64 = 1_000
  /// The second pause between attempts to connect, in milliseconds; there is no first one.
  package var minimumReconnectDelay: Int64 = 1_000
  /// The longest pause between attempts to connect, in milliseconds.
  package var maximumReconnectDelay: Int64 = 30_000
  /// The factor by which each pause is longer than the one before.
  package var reconnectFactor = 1.3
  /// The part of a pause that is random, from 0 through 1.
  package var reconnectJitter = 0.7
  /// How long a connection must last for the pauses to start from none again, in milliseconds.
  package var stableConnectionTime: Int64 = 30_000
  /// How long a connection that nothing is asked of may be silent before the server is asked for a
  /// sign of life, in milliseconds.
  package var keepaliveInterval: Int64 = 45_000
  /// How long an answer may be due before the server is asked for a sign of life, in milliseconds.
  package var probeDelay: Int64 = 1_000
  /// The silence of a server that was asked for something that users are told of, in milliseconds.
  package var noticeableSilence: Int64 = 3_000
  /// The silence of a server that was asked for something that ends a connection, in milliseconds.
  ///
  /// It doubles, up to eight times, while the server leaves requests unanswered on one connection
  /// after the other.
  package var patience: Int64 = 10_000
  /// The time from the start of an attempt to the server's greeting, in milliseconds.
  package var connectTimeout: Int64 = 30_000
  /// Whether the database's own host is asked for another server, with a second connection, while one that
  /// was asked for something is noticeably silent.
  package var opensSpares = false
  /// How long a read waits for a connection before it falls back to older data, in milliseconds.
  ///
  /// Nil waits forever.
  package var getDeadline: Int64?
  /// Whether later connections go to the host that the server names in its greeting.
  package var followsServerHost = false

  /// The size in bytes above which a store is pruned; what is in use always stays.
  package var offlineBytes: Int64 = 10 * 1_024 * 1_024
  /// How many queries that are not in use a store keeps at most.
  package var offlineQueries = 1_000

  /// Makes a configuration with the defaults of the official clients.
  package init(clientID: String, statisticsName: String) {
    self.clientID = clientID
    self.statisticsName = statisticsName
  }
}
