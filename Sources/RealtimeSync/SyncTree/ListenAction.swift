import RealtimeTree

/// A listen as the server knows it.
struct ListenTarget: Hashable, Sendable {
  let path: Path
  /// The query on the wire: every query of all data is the default one.
  let query: Query
  /// What the server marks pushes with; nil for the default query.
  let tag: Int64?
}

/// What is to be asked of the server.
enum ListenAction: Hashable, Sendable {
  case start(ListenTarget)
  case stop(ListenTarget)
}

/// What a change of registrations comes to.
struct SyncResult: Sendable {
  /// The events to raise.
  var events: [ViewEvent] = []
  /// What to ask of the server, in order.
  var actions: [ListenAction] = []
  /// The registrations that ended.
  var ended: [Registration.Owner] = []
}
