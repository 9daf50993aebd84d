import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeSync

/// Observers, as any thread asks for them.
extension Repo {
  nonisolated func observe(
    _ query: DatabaseQuery,
    _ events: Set<DataEventType>,
    once isOnce: Bool = false,
    _ block: Callback<(DataEventType, DataSnapshot, String?) -> Void>,
    cancel: Callback<((any Error) -> Void)?>
  ) -> DatabaseHandle {
    let number = nextNumber()
    let kinds = Set(events.map(EventKind.init))
    shared.withLockedValue {
      $0.observers[number] = ObservedPlace(path: query.path, query: query.query)
    }
    submit { repo in
      // It may have been removed meanwhile.
      guard !repo.isClosed, repo.isActive(number) else { return }
      let id = ListenerID(number)
      repo.listeners[id] = Listener(query: query, block: block, cancel: cancel, isOnce: isOnce)
      repo.handle(.observe(id, path: query.path, query: query.query, events: kinds))
    }
    return DatabaseHandle(number)
  }

  /// Removes an observer of a query, or of any query of the location when that is all of it.
  nonisolated func removeObserver(_ handle: DatabaseHandle, of query: DatabaseQuery) {
    guard let number = Int64(exactly: handle) else { return }
    let place = shared.withLockedValue { $0.observers[number] }
    if place?.isWithin(query) == true { removeObserver(handle) }
  }

  nonisolated func removeObserver(_ handle: DatabaseHandle) {
    guard let number = Int64(exactly: handle), deactivate(number) else { return }
    submit { $0.stop(ListenerID(number)) }
  }

  nonisolated func removeAllObservers(of query: DatabaseQuery) {
    let removed = shared.withLockedValue { shared in
      let matching = shared.observers.filter { $0.value.isWithin(query) }
      for number in matching.keys { shared.observers[number] = nil }
      // Those of all data last, so that the others need not be listened to in between.
      return matching.sorted {
        let isEarlier = !$0.value.query.loadsAllData && $1.value.query.loadsAllData
        let isLater = $0.value.query.loadsAllData && !$1.value.query.loadsAllData
        return isEarlier || (!isLater && $0.key < $1.key)
      }
    }
    let numbers = removed.map(\.key)
    submit { repo in
      for number in numbers { repo.stop(ListenerID(number)) }
    }
  }

  /// Whether an observer may still be called.
  nonisolated func isActive(_ number: Int64) -> Bool {
    shared.withLockedValue { $0.observers[number] != nil }
  }

  /// Has an observer not be called any more; false when that was so already.
  nonisolated func deactivate(_ number: Int64) -> Bool {
    shared.withLockedValue { $0.observers.removeValue(forKey: number) != nil }
  }

  nonisolated func keepSynced(_ query: DatabaseQuery, _ isOn: Bool) {
    let path = query.path
    let selection = query.query
    submit { $0.handle(.keepSynced(path: path, query: selection, isOn)) }
  }
}

extension EventKind {
  fileprivate init(_ type: DataEventType) {
    switch type {
    case .childAdded: self = .childAdded
    case .childRemoved: self = .childRemoved
    case .childChanged: self = .childChanged
    case .childMoved: self = .childMoved
    case .value: self = .value
    }
  }
}
