import RealtimeCore

/// One request of a client, with what must be true of it in the end.
struct TrackedRequest {
  enum Purpose {
    /// A write of unique texts.
    case write(ids: [String])
    /// An increment of a counter, together with a unique text that tells whether it was applied.
    case count(counter: ChildKey, amount: Int64, id: String)
    /// A transaction that adds a unique entry to a tally.
    case tally(place: Path, entry: ChildKey)
    /// A read, with the durable revision at its start.
    case get(path: Path, query: Query, revision: Int64)
    /// Anything else, by name.
    case other(String)
  }

  let client: Int
  let purpose: Purpose
  var outcome: StatusCode?
  var isCommitted = false

  /// The unique texts that it writes.
  var ids: [String] {
    switch purpose {
    case .write(let ids): ids
    case .count(_, _, let id): [id]
    case .tally, .get, .other: []
    }
  }
}
