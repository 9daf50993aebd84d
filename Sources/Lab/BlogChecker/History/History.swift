/// What all clients of a run have noted.
package struct History: Sendable {
  /// The clients, by name.
  package let clients: [ClientHistory]
  /// All operations in the order in which they began.
  package let operations: [ClientOperation]

  /// Puts the histories of clients together.
  ///
  /// - Complexity: O(n log n)
  package init(_ clients: [ClientHistory]) {
    self.clients = clients.sorted { $0.header.client < $1.header.client }
    operations = clients.flatMap(\.operations).sorted {
      ($0.invoked, $0.client, $0.number) < ($1.invoked, $1.client, $1.number)
    }
  }

  /// Whoever starts the others and causes the faults, or nil.
  package var driver: ClientHistory? { clients.first { $0.header.role == .driver } }

  /// All lines of all clients in the order of their times.
  ///
  /// - Complexity: O(n log n)
  package var lines: [HistoryLine] { clients.flatMap(\.lines).sorted { $0.time < $1.time } }

  /// The identifiers of everybody who takes part.
  package var uids: Set<String> { Set(clients.map(\.header.uid)) }

  /// Whether all clients write a star and its copy with one commit.
  package var isAtomic: Bool {
    clients.allSatisfy { $0.header.role == .driver || $0.header.strategy.isAtomic }
  }
}
