import RealtimeCore

/// What one operation did to one child of a view.
enum ChildChange: Sendable {
  /// It was not there before.
  case added(Node)
  /// It is no longer there.
  case removed(Node)
  /// It has other data.
  case changed(from: Node, to: Node)
}
