import RealtimeCore

/// A read that is not answered yet.
struct PendingGet: Sendable {
  let token: RequestToken
  let path: Path
  let query: Query
}
