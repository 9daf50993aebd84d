/// What a change of registrations comes to.
struct SyncResult: Sendable {
  /// The events to raise.
  var events: [ViewEvent] = []
  /// What to ask of the server, in order.
  var actions: [ListenAction] = []
  /// The registrations that ended.
  var ended: [Registration.Owner] = []
}
