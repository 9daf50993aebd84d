import RealtimeCore

/// What an engine is told once, when it is made.
package struct RepoConfiguration: Sendable {
  /// Unique among all clients that ever connect, and a secret: names the writes of this one, and whoever
  /// knows it can ask what became of those of nobody in particular.
  package var clientID: String
  /// The name and version that the server counts, dots as dashes: `sdk.swift.1-0-0`.
  package var statisticsName: String
  /// Times that a transaction is sent before it gives up.
  package var transactionTries = Limits.transactionTries
  /// The longest pause before a transaction is sent a third time, in milliseconds; the pause before
  /// the second is none, and each one after the third may be twice as long as the one before.
  package var transactionRetryDelay: Int64 = 20
  /// The longest pause between two tries of a transaction, in milliseconds.
  package var maximumTransactionRetryDelay: Int64 = 1_000
  /// The second pause between attempts to connect, in milliseconds; the first is none.
  package var minimumReconnectDelay: Int64 = 1_000
  /// The longest pause between attempts to connect, in milliseconds.
  package var maximumReconnectDelay: Int64 = 30_000
  /// How much longer each pause is than the one before.
  package var reconnectFactor = 1.3
  /// The part of a pause that is left to chance, from 0 through 1.
  package var reconnectJitter = 0.7
  /// How long a connection must last for the next pause to be none again, in milliseconds.
  package var stableConnectionTime: Int64 = 30_000
  /// The silence after which a sign of life is sent, in milliseconds.
  package var keepaliveInterval: Int64 = 45_000
  /// The time from the start of an attempt to the server's greeting, in milliseconds.
  package var connectTimeout: Int64 = 30_000
  /// How long a read waits for a connection before it looks for older data, in milliseconds; nil is
  /// for ever.
  package var getDeadline: Int64?
  /// Whether to connect next time to the host that the server names in its greeting.
  package var followsServerHost = false

  /// The size in bytes that a store is pruned down to, as far as nothing of it is in use.
  package var offlineBytes: Int64 = 10 * 1_024 * 1_024
  /// The most queries that a store keeps without their being in use.
  package var offlineQueries = 1_000

  /// Makes a configuration with the defaults of the official clients.
  package init(clientID: String, statisticsName: String) {
    self.clientID = clientID
    self.statisticsName = statisticsName
  }
}
