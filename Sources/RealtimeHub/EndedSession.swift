/// What one connection has scheduled for its end.
struct EndedSession: Sendable {
  let id: Int64
  let table: DisconnectTable
}
