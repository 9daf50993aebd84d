package import RealtimeSync

/// Where the data of a snapshot come from.
///
/// Whether more is known is told with the next event; a change of the metadata alone raises none.
public struct SnapshotMetadata: Hashable, Sendable {
  /// Whether the server may have newer data.
  ///
  /// True while there is no connection, and after one was made until the server has sent the data or
  /// has confirmed that what is known here is what it has. False for data of `.info`.
  public let isFromCache: Bool

  /// Whether writes of this client that are not yet acknowledged have a part in the data.
  ///
  /// For a child event they are those at, above and below the child; for the value of a query those
  /// at or above its location, and those of children that it selects, or selected without them.
  public let hasPendingWrites: Bool

  package init(_ metadata: DataMetadata = DataMetadata()) {
    isFromCache = metadata.isFromCache
    hasPendingWrites = metadata.hasPendingWrites
  }
}
