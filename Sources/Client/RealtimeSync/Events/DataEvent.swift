package import RealtimeCore

/// Something that happened to the data of a query.
package struct DataEvent: Sendable, Equatable {
  /// What happened.
  package var kind: EventKind
  /// The location of the query.
  package var path: Path
  /// The key of the child; nil for the value of the query itself.
  package var key: ChildKey?
  /// The data of the child (before it was removed), or of the whole query.
  package var node: Node
  /// The key of the child before this one in the order of the query; nil for the first child.
  package var previousKey: ChildKey?
  /// Where the data come from.
  package var metadata = DataMetadata()

  /// Makes an event.
  package init(
    kind: EventKind,
    path: Path,
    key: ChildKey? = nil,
    node: Node,
    previousKey: ChildKey? = nil
  ) {
    self.kind = kind
    self.path = path
    self.key = key
    self.node = node
    self.previousKey = previousKey
  }

  /// Compares all but where the data come from.
  package static func == (left: DataEvent, right: DataEvent) -> Bool {
    left.kind == right.kind && left.path == right.path && left.key == right.key
      && left.node == right.node && left.previousKey == right.previousKey
  }
}
