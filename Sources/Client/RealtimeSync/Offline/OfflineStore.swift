package import RealtimeCore

/// Keeps what a client must not lose with its process: pending writes, and data of the server.
///
/// The engine decides what is kept and emits it as ``OfflineChange``s; a store carries them out. A
/// store is a log in all that matters: after a crash it is as if the changes had stopped somewhere
/// between two calls of ``perform(_:)``. Where exactly is left to the store, so that nobody waits for
/// a disk:
///
/// - A write whose call has just returned may be lost with the process, but never half of it.
/// - The writes that are kept are the first ones in their order, less those that were answered.
/// - A kept write has the key it was sent with, so that a server that offers it applies it once,
///   whether or not the store learned of its answer.
package protocol OfflineStore: Sendable {
  /// The data of a tracked query after all changes up to now.
  ///
  /// - Parameter query: The number of the query.
  /// - Returns: The data, or nil when there are none or they cannot be read.
  func data(of query: Int64) -> Node?

  /// Takes changes that are kept together or not at all, after those of the calls before.
  func perform(_ changes: [OfflineChange])

  /// Calls a block when the disk has all changes up to now, with the reason if it has not.
  func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void)

  /// Keeps what was performed up to now, and gives up what it is kept in.
  func close()
}
