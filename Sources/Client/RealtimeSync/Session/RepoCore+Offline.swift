package import RealtimeCore

/// What outlives the process.
extension RepoCore {
  /// Continues where the processes before this one ended; to be called before anything else.
  ///
  /// Their writes are pending again and are sent, under their old keys, before all later ones.
  ///
  /// - Parameters:
  ///   - state: What a store kept; changes are emitted for that store from now on.
  ///   - read: Reads the data of a tracked query; called only while an input is handled.
  package mutating func restore(
    _ state: OfflineState,
    read: @escaping @Sendable (_ query: Int64) -> Node?
  ) {
    assert(lastNumber == 0, "the engine has been used")
    offline = OfflineCache(state.queries, read: read)
    for write in state.writes {
      lastNumber = max(lastNumber, write.number)
      let request = WriteRequest(path: write.path, operation: write.operation, key: write.key)
      let pending = PendingWrite(
        id: write.number,
        path: write.path,
        operation: write.estimate,
        isVisible: true
      )
      _ = sync.write(pending)
      writes.updateValue(
        OutstandingWrite(request: request, purpose: .caller(nil), owner: write.owner),
        forKey: write.number
      )
    }
  }

  /// What an observer of a query would see of all that is known here, however old, with its source.
  ///
  /// Nothing is changed by asking, and no one is told.
  package mutating func knownValue(at path: Path, query: Query) -> (node: Node, DataMetadata)? {
    let place = Place(path: path, query: query)
    if let node = cachedValue(at: path, query: query) { return (node, metadata(of: node, place)) }
    guard !path.isInfo, let stored = offline?.load(place, now: now.wall) else { return nil }
    let node = sync.value(of: place, over: stored.node)
    return (node, metadata(of: node, place))
  }

  /// Where the data of a place, or of one child of it, come from.
  func metadata(of node: Node, _ place: Place, child key: ChildKey? = nil) -> DataMetadata {
    if place.path.isInfo { return DataMetadata() }
    return DataMetadata(
      isFromCache: !isCurrent(place),
      hasPendingWrites: sync.hasPendingWrites(place, child: key, in: node)
    )
  }

  /// Whether the data of a place are those of the server of this connection.
  func isCurrent(_ place: Place) -> Bool {
    sync.covering(place).map { listens.isCurrent($0) } ?? false
  }

  /// Whether the data of a place were kept by a store and no server has confirmed them.
  func isUnconfirmed(_ place: Place) -> Bool {
    sync.covering(place).map { listens.isUnconfirmed($0) } ?? false
  }

  /// The data at a path that this client would see, as far as they are known.
  mutating func latest(at path: Path) -> Node {
    let place = Place(path: path, query: .all)
    let isUnknown = sync.isUnknown(at: path, query: .all)
    let stored = isUnknown ? offline?.load(place, now: now.wall)?.node : nil
    return sync.latest(at: path, stored: stored)
  }

  /// Keeps a write until it is answered.
  mutating func save(_ number: Int64, _ request: WriteRequest, _ estimate: WriteOperation) {
    let key = key(of: number, ownedBy: user)
    offline?.append(
      .saveWrite(
        StoredWrite(
          number: number,
          key: key,
          path: request.path,
          operation: request.operation,
          estimate: estimate,
          owner: user
        )
      )
    )
  }
}
