internal import RealtimeCore

/// The limits of a hub.
///
/// A request that exceeds one is refused with a status and a reason.
package struct HubLimits: Sendable, Equatable {
  /// Maximum number of listens of one peer.
  package var listensPerPeer = 10_000
  /// Maximum cost of the listens of one user over all connections; an ordinary listen costs one.
  var listensPerUser = 20_000
  /// Maximum cost of the listens of all who have not signed in, or only anonymously.
  package var guestListens = 20_000
  /// Cost up to which the listens of the guests of one network are granted whatever others have.
  package var freeListens = 64
  /// Maximum number of orders of one location that listens need and the rules do not declare.
  package var undeclaredOrders = 64
  /// Maximum number of writes that one peer schedules for its disconnect.
  package var disconnectWritesPerPeer = 10_000
  /// Maximum size in bytes, of JSON and of paths, of the writes that one peer schedules.
  package var disconnectBytesPerPeer = 1_024 * 1_024
  /// Maximum number of users as whom one peer schedules writes.
  package var disconnectIdentitiesPerPeer = 16
  /// Maximum number of times that the rules are asked about the writes of one closed peer.
  package var disconnectTries = 256
  /// Maximum number of commits that are not stored yet.
  package var pendingCommits = 10_000
  /// Maximum number of closed peers whose writes wait for the store; the oldest are dropped.
  package var overdueDisconnects = 1_000
  /// Maximum number of clients whose writes are remembered, separately for those signed in and not.
  package var ledgerClients = 10_000
  /// Maximum number of runs of refused writes that are remembered for one client.
  package var rememberedRefusals = 128
  /// Maximum length in bytes of a message with data that answers a request.
  package var responseBytes = 256 * 1_024 * 1_024
  /// Maximum number of keys from the root to a leaf; not above ``Limits/depth``.
  var dataDepth = Limits.depth
  /// Maximum number of paths in one update, except by administrators.
  package var updatePlaces = 10_000
  /// Maximum number of values in one write, except by administrators.
  package var writeValues = 250_000
  /// Maximum number of steps that the rules may take for one request.
  package var ruleSteps = RulesLimits.steps
  /// Data of about this length in bytes or more is encoded outside the hub.
  package var composedBytes = 32 * 1_024
  /// Maximum number of children at a location that a listen may order without an index.
  package var unindexedChildren = 10_000
  /// Maximum number of orders of children that are kept while no listen needs them.
  package var keptOrders = 256
  /// Maximum number of children in all orders that are kept while no listen needs them.
  package var keptOrderedChildren = 1_000_000

  package init() {}
}
