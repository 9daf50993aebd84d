internal import RealtimeCore

extension CommitEffect {
  /// The locations of a map above, at and below the places of the commit, in path order.
  ///
  /// - Complexity: O(depth · log locations) for a place, and O(1) for a location found
  func affectedPaths<Value>(in locations: SortedMap<Path, Value>) -> [Path] {
    // A few are looked at one by one sooner than searched for by each path above a place.
    if locations.count <= 8 {
      return locations.compactMap { path, _ in
        places.contains { path.overlaps($0) } ? path : nil
      }
    }
    var affected: [Path] = []
    for place in places {
      for count in 0..<place.count {
        let prefix = Path(place.keys.prefix(count))
        if locations[prefix] != nil { affected.append(prefix) }
      }
      for (path, _) in locations.ascending(after: { $0 < place }) {
        guard place.contains(path) else { break }
        affected.append(path)
      }
    }
    guard places.count > 1 else { return affected }
    var distinct: [Path] = []
    for path in affected.sorted() where distinct.last != path { distinct.append(path) }
    return distinct
  }

  /// The changes below a location by the child that they are in, in the order of the places; nil
  /// when the location itself, or something above it, has changed.
  func changedChildren(of path: Path) -> (keys: [ChildKey], places: [ChildKey: [Path]])? {
    var keys: [ChildKey] = []
    var below: [ChildKey: [Path]] = [:]
    for place in places {
      if place.contains(path) { return nil }
      guard let relative = place.relative(to: path), let key = relative.first, key != .priority
      else { continue }
      if below[key] == nil { keys.append(key) }
      below[key, default: []].append(relative)
    }
    return (keys, below)
  }
}
