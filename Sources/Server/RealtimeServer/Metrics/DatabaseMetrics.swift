/// What one database has done since it was opened.
struct DatabaseMetrics {
  /// Connections of clients that were greeted.
  var connections = 0
  /// Requests over WebSockets, REST and event streams by their kind.
  var requests: [String: Int] = [:]
  /// Messages that could not be understood.
  var undecodable = 0
  /// Messages that were sent.
  var sent = 0
  /// The bytes of messages that were sent over WebSockets.
  var sentBytes = 0
  /// Commits that were stored.
  var commits = 0
  /// Batches that could not be stored.
  var failedBatches = 0
  /// Changes that were left out for clients that did not keep up.
  var coalesced = 0
  /// Connections that were closed because they went beyond a limit.
  var dropped = 0
  /// Commits of a batch.
  var batchCommits = Histogram()
  /// How long the store took for a batch, in microseconds.
  var commitTime = Histogram()
  /// From the arrival of a write to the moment when it was acknowledged, in microseconds.
  var acknowledgeTime = Histogram()
}
