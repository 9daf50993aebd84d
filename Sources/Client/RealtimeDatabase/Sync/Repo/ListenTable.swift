import RealtimeCore

enum ListenCommand: Sendable {
  /// Listen; the server does not resend data that is known already.
  case listen(serial: Int64, ListenTarget, known: Node)
  case unlisten(ListenTarget)

  /// The message.
  ///
  /// - Complexity: O(size of the known data), for their hash
  var message: ClientRequest {
    switch self {
    case .listen(_, let target, let known):
      return .listen(
        ListenRequest(
          path: target.path,
          query: target.query,
          tag: target.tag,
          hash: known.hash,
          compoundHash: CompoundHash.worthSending(of: known)
        )
      )
    case .unlisten(let target):
      return .unlisten(path: target.path, query: target.query, tag: target.tag)
    }
  }

  var purpose: RequestPurpose {
    switch self {
    case .listen(let serial, let target, let known):
      .listen(serial: serial, target, known: known)
    case .unlisten: .other
    }
  }
}

/// The listens that the server should have, in the order in which they were started.
struct ListenTable: Sendable {
  private(set) var targets = SortedMap<Int64, ListenTarget>()
  private var serials: [ListenTarget: Int64] = [:]
  private var serialsAt: [Path: Set<Int64>] = [:]
  private var lastSerial: Int64 = 0
  /// The listens whose data the server has sent or confirmed on this connection.
  private var current: Set<ListenTarget> = []
  /// The listens that have data from a store, but none from a server yet.
  private var unconfirmed: Set<ListenTarget> = []

  func serial(of target: ListenTarget) -> Int64? { serials[target] }

  /// Adds a listen and returns its serial number; an active one is restarted.
  mutating func start(_ target: ListenTarget) -> Int64 {
    stop(target)
    lastSerial += 1
    serials[target] = lastSerial
    serialsAt[target.path, default: []].insert(lastSerial)
    targets.updateValue(target, forKey: lastSerial)
    return lastSerial
  }

  func isCurrent(_ target: ListenTarget) -> Bool { current.contains(target) }

  /// Whether the server has sent or confirmed the data of all listens on this connection.
  var areCurrent: Bool { current.count == serials.count }

  func isUnconfirmed(_ target: ListenTarget) -> Bool { unconfirmed.contains(target) }

  /// A listen starts with data from a store.
  mutating func startedFromStore(_ target: ListenTarget) {
    unconfirmed.insert(target)
  }

  /// The server has sent or confirmed the data of a listen on this connection.
  mutating func markCurrent(_ target: ListenTarget) {
    guard serials[target] != nil else { return }
    current.insert(target)
    unconfirmed.remove(target)
  }

  /// The connection has ended: no data is known to be current any more.
  mutating func connectionLost() {
    current = []
  }

  /// Removes a listen; returns whether it was active.
  @discardableResult
  mutating func stop(_ target: ListenTarget) -> Bool {
    guard let serial = serials.removeValue(forKey: target) else { return false }
    targets.removeValue(forKey: serial)
    serialsAt[target.path]?.remove(serial)
    if serialsAt[target.path]?.isEmpty == true { serialsAt[target.path] = nil }
    current.remove(target)
    unconfirmed.remove(target)
    return true
  }

  /// The listens at a path with these queries; if nil, the default listen or, without one, all.
  ///
  /// - Complexity: O(listens at the path · (queries + log n))
  func targets(at path: Path, queries: [Query]?) -> [ListenTarget] {
    let here = serialsAt[path, default: []].sorted().compactMap { targets[$0] }
    if let queries {
      return here.filter { target in queries.contains { $0.id == target.query.id } }
    }
    let untagged = here.filter { $0.tag == nil }
    return untagged.isEmpty ? here : untagged
  }
}
