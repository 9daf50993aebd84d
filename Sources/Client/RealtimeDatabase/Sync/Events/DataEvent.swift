package import RealtimeCore

/// The kinds of events that an observer can receive.
public enum DataEventType: Int, Hashable, Sendable {
  /// A child was added to the query, or was part of it when the observer was added.
  case childAdded
  /// A child was removed from the query.
  case childRemoved
  /// The data of a child changed.
  case childChanged
  /// The value by which a child is ordered changed.
  case childMoved
  /// All data at the location, initially and after each change.
  case value

  /// All kinds, in the order in which they are raised.
  package static let inOrder = [childRemoved, childAdded, childMoved, childChanged, value]
}

package struct DataMetadata: Hashable, Sendable {
  /// Whether newer data may exist: the server has not answered the listen on this connection.
  package var isFromCache: Bool = false
  /// Whether unanswered writes affect the data.
  package var hasPendingWrites: Bool = false
}

/// A change to the data of a query.
package struct DataEvent: Sendable, Equatable {
  package var kind: DataEventType
  package var path: Path
  /// The key of the child; nil for the value of the query itself.
  package var key: ChildKey?
  /// The data of the child (before it was removed), or of the whole query.
  package var node: Node
  /// The key of the child before this one in the order of the query; nil for the first child.
  package var previousKey: ChildKey?
  package var metadata = DataMetadata()

  /// Compares everything except the metadata.
  package static func == (left: DataEvent, right: DataEvent) -> Bool {
    left.kind == right.kind && left.path == right.path && left.key == right.key
      && left.node == right.node && left.previousKey == right.previousKey
  }
}
