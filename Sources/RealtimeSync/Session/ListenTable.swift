import RealtimeTree

/// The listens that the server should have, in the order they were started.
struct ListenTable: Sendable {
  private(set) var targets = SortedMap<Int64, ListenTarget>()
  private var serials: [ListenTarget: Int64] = [:]
  private var lastSerial: Int64 = 0

  /// The number under which a listen runs, or nil.
  func serial(of target: ListenTarget) -> Int64? { serials[target] }

  /// Adds a listen and returns its number; one that runs already starts anew.
  mutating func start(_ target: ListenTarget) -> Int64 {
    stop(target)
    lastSerial += 1
    serials[target] = lastSerial
    targets.updateValue(target, forKey: lastSerial)
    return lastSerial
  }

  /// Forgets a listen; returns whether it ran.
  @discardableResult
  mutating func stop(_ target: ListenTarget) -> Bool {
    guard let serial = serials.removeValue(forKey: target) else { return false }
    targets.removeValue(forKey: serial)
    return true
  }

  /// The listens at a path that a push names by their queries; without any, the default one or all.
  func targets(at path: Path, queries: [Query]?) -> [ListenTarget] {
    let here = targets.map(\.value).filter { $0.path == path }
    if let queries {
      return here.filter { target in queries.contains { $0.id == target.query.id } }
    }
    let untagged = here.filter { $0.tag == nil }
    return untagged.isEmpty ? here : untagged
  }
}
