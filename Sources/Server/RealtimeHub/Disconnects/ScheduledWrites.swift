/// What one connection has scheduled for its end as one user.
struct ScheduledWrites: Sendable {
  /// The number under which it is stored; what is applied first has the lowest.
  let id: Int64
  /// Who scheduled it, and whose permissions count when it is applied.
  var identity: Identity
  var table = DisconnectTable()
}
