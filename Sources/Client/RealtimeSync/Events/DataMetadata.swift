/// Where data come from.
package struct DataMetadata: Hashable, Sendable {
  /// Whether the server may have newer data: the listen for them is not answered on this connection.
  package var isFromCache: Bool
  /// Whether writes that are not answered yet have a part in the data.
  package var hasPendingWrites: Bool

  /// Makes a description, of the server's own data unless told otherwise.
  package init(isFromCache: Bool = false, hasPendingWrites: Bool = false) {
    self.isFromCache = isFromCache
    self.hasPendingWrites = hasPendingWrites
  }
}
