import RealtimeCore

/// Older data of the server that a store has of a query.
enum StoredData: Sendable {
  /// All of them, cut to the query.
  case all(Node)
  /// Some children of the location, each of them complete, without those that views know.
  case some(Node)

  /// None.
  static let nothing = StoredData.some(.empty)

  /// All of them, or nil.
  var whole: Node? {
    if case .all(let node) = self { node } else { nil }
  }

  /// The children that are known though not all are.
  var children: Node {
    if case .some(let node) = self { node } else { .empty }
  }
}
