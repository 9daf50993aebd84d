/// Something that happened to a child.
public enum DatabaseEvent: Sendable {
  /// A child has come, or was there at the beginning.
  case childAdded(DataSnapshot, previousSiblingKey: String?)
  /// The data of a child have changed.
  case childChanged(DataSnapshot, previousSiblingKey: String?)
  /// A child has gone.
  case childRemoved(DataSnapshot)
  /// What a child is ordered by has changed.
  case childMoved(DataSnapshot, previousSiblingKey: String?)

  /// The child.
  public var snapshot: DataSnapshot {
    switch self {
    case .childAdded(let snapshot, _), .childChanged(let snapshot, _), .childRemoved(let snapshot),
      .childMoved(let snapshot, _):
      snapshot
    }
  }

  init?(_ type: DataEventType, _ snapshot: DataSnapshot, _ previousKey: String?) {
    switch type {
    case .childAdded: self = .childAdded(snapshot, previousSiblingKey: previousKey)
    case .childChanged: self = .childChanged(snapshot, previousSiblingKey: previousKey)
    case .childRemoved: self = .childRemoved(snapshot)
    case .childMoved: self = .childMoved(snapshot, previousSiblingKey: previousKey)
    case .value: return nil
    }
  }
}
