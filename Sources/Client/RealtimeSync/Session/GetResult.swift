package import RealtimeCore

/// How a single read ended.
package enum GetResult: Sendable, Equatable {
  /// The data of the query, and where they come from.
  case value(Node, DataMetadata)
  /// The read failed, with the status and its reason.
  case failure(StatusCode, reason: String)
}
