/// What an observer is told of.
public enum DataEventType: Int, Hashable, Sendable {
  /// A child has come, or was there when the observer began.
  case childAdded
  /// A child has gone.
  case childRemoved
  /// The data of a child have changed.
  case childChanged
  /// What a child is ordered by has changed.
  case childMoved
  /// The whole data at the location, at first and after each change.
  case value
}

/// Names an observer, to remove it by.
public typealias DatabaseHandle = UInt
