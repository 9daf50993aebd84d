internal import RealtimeCore
internal import SecurityRules

/// The bounds of a hub; what goes beyond is refused with a status and a reason.
package struct HubLimits: Sendable, Equatable {
  /// Most listens of one peer.
  package var listensPerPeer = 10_000
  /// Most writes that one peer schedules for its end.
  package var disconnectWritesPerPeer = 10_000
  /// Most bytes, of JSON and of paths, of the writes that one peer schedules for its end.
  package var disconnectBytesPerPeer = 1_024 * 1_024
  /// Most users that one peer schedules writes as.
  package var disconnectIdentitiesPerPeer = 16
  /// Most commits that are not stored yet.
  package var pendingCommits = 10_000
  /// Most ended peers whose writes wait for the store; the oldest are dropped.
  package var overdueDisconnects = 1_000
  /// Most clients of users whose writes are remembered, and most of those who have not signed in.
  package var ledgerClients = 10_000
  /// Most runs of refused writes of a client that are remembered.
  package var rememberedRefusals = 128
  /// Longest message with data that a peer is sent in answer to a request, in bytes.
  package var responseBytes = 256 * 1_024 * 1_024
  /// Most keys from the root to a leaf, at most those of ``Limits/depth``.
  package var dataDepth = Limits.depth
  /// Most paths of one update, except by administrators.
  package var updatePlaces = 10_000
  /// Most values of one write, except by administrators.
  package var writeValues = 250_000
  /// Most steps that the rules may take for one request.
  package var ruleSteps = RulesLimits.steps
  /// Data from about this length on, in bytes, are not encoded by the hub.
  package var composedBytes = 32 * 1_024
  /// Most children of a location that a listen may order without an index.
  package var unindexedChildren = 10_000
  /// Most orders of children that are kept while no listen needs them.
  package var keptOrders = 256
  /// Most children in all orders that are kept while no listen needs them.
  package var keptOrderedChildren = 1_000_000

  /// Makes the default limits.
  package init() {}
}
