/// A kind of change that a listener may ask for, in the order in which one operation raises them.
package enum EventKind: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// A child is gone; the node of the event is its last value.
  case childRemoved
  /// A child appeared.
  case childAdded
  /// What the query orders a child by has changed.
  case childMoved
  /// The data of a child changed.
  case childChanged
  /// The data of the whole query, after all changes of the children.
  case value

  package static func < (left: EventKind, right: EventKind) -> Bool {
    left.rawValue < right.rawValue
  }
}
