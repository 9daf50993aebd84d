internal import RealtimeCore

extension Change {
  /// The few places that really change where a large map is written anew, or else the change itself.
  ///
  /// A transaction writes a whole value, of which as a rule it has changed very little. Everybody who
  /// listens would be sent, and the disk would take, all of the rest once more: with many stars on one
  /// post that grows with the square of their number.
  ///
  /// - Parameter existing: What is at the path; it is asked for only where it matters.
  /// - Returns: Changes that come to the same, none within another.
  /// - Complexity: O(n log n)
  func narrowed(from existing: @autoclosure () -> Node) -> [Change] {
    // What is packed has few children, all the way down.
    if node.children?.isPacked != false { return [self] }
    var narrowing = Narrowing()
    let isNarrow = narrowing.compare(existing(), node, at: path) && narrowing.isWide
    return isNarrow ? narrowing.changes : [self]
  }
}

/// A comparison of two values that ends as soon as they differ in too many places.
private struct Narrowing {
  /// The number of children from which a map is large.
  private static let wide = 32
  /// The most places that are told one by one.
  private static let places = 4

  var changes: [Change] = []
  /// Whether a large map was looked into.
  var isWide = false

  /// Gathers the differences; false when there are too many.
  mutating func compare(_ old: Node, _ new: Node, at path: Path) -> Bool {
    guard let before = old.children, let after = new.children, old.priority == new.priority else {
      changes.append(Change(path, new))
      return changes.count <= Self.places
    }
    if after.count >= Self.wide { isWide = true }
    var kept = 0
    for (key, node) in after.map {
      let earlier = old[key]
      if !earlier.isEmpty { kept += 1 }
      guard node != earlier else { continue }
      if !compare(earlier, node, at: path.appending(key)) { return false }
    }
    guard kept < before.count else { return true }
    for (key, _) in before.map where new[key].isEmpty {
      changes.append(Change(path.appending(key), .empty))
      if changes.count > Self.places { return false }
    }
    return true
  }
}
