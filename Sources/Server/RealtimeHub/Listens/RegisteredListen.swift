/// A listen as it is registered.
struct RegisteredListen: Sendable {
  let key: ListenKey
  /// What pushes are marked with; nil for the default query.
  let tag: Int64?
  /// Whether the order that the query needs is worth keeping.
  let isIndexed: Bool
}
