package import RealtimeCore

/// The kinds of events that a listener can request, in the order in which they are raised.
package enum EventKind: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// A child was removed; the event's node is its last value.
  case childRemoved
  /// A child was added.
  case childAdded
  /// The value by which the query orders a child changed.
  case childMoved
  /// The data of a child changed.
  case childChanged
  /// The data of the whole query, raised after all events of children.
  case value

  package static func < (left: EventKind, right: EventKind) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The origin of data.
package struct DataMetadata: Hashable, Sendable {
  /// Whether newer data may exist: the server has not answered the listen on this connection.
  package var isFromCache: Bool = false
  /// Whether unanswered writes affect the data.
  package var hasPendingWrites: Bool = false
}

/// A change to the data of a query.
package struct DataEvent: Sendable, Equatable {
  /// The kind of change.
  package var kind: EventKind
  /// The location of the query.
  package var path: Path
  /// The key of the child; nil for the value of the query itself.
  package var key: ChildKey?
  /// The data of the child (before it was removed), or of the whole query.
  package var node: Node
  /// The key of the child before this one in the order of the query; nil for the first child.
  package var previousKey: ChildKey?
  /// The origin of the data.
  package var metadata = DataMetadata()

  /// Compares everything except the metadata.
  package static func == (left: DataEvent, right: DataEvent) -> Bool {
    left.kind == right.kind && left.path == right.path && left.key == right.key
      && left.node == right.node && left.previousKey == right.previousKey
  }
}
