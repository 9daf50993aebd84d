package import RealtimeCore

/// A sequence of changes without those that later ones overwrite.
///
/// The result has the same effect on any tree as applying all changes in order. Data that replaces
/// other data takes its position in the sequence, ahead of the changes in between. Those are at
/// other paths, where it matters only that data exists, not which. Removals and priorities are
/// never left out, because their order matters: a location loses its priority with the last data
/// below it.
package struct CoalescedChanges {
  /// A location that has been changed, or an ancestor of one.
  ///
  // Safety: it stays within the sequence that made it, which is not Sendable. Nothing calls back
  // into the sequence while a location changes, so exclusivity need not be checked at run time.
  private final class Location: @unchecked Sendable {
    enum Content {
      /// No change here, but perhaps one below.
      case nothing
      /// Data that may still be replaced; the value is the position of its change.
      case data(Int)
      /// A change that must stay as it is.
      case fixed
    }

    @exclusivity(unchecked) var content = Content.nothing
    @exclusivity(unchecked) var below = SortedMap<ChildKey, Location>()

    /// The positions of all data below this location, or nil when there is a fixed change.
    var replaceable: [Int]? {
      var positions: [Int] = []
      for (_, location) in below {
        switch location.content {
        case .nothing: break
        case .data(let position): positions.append(position)
        case .fixed: return nil
        }
        guard let more = location.replaceable else { return nil }
        positions += more
      }
      return positions
    }

    /// Visits the positions of all data at and below this location, in path order.
    ///
    /// Sorting the paths afterwards took a seventh of all the time that a store spends on a write.
    func forEachPosition(_ body: (Int) -> Void) {
      if case .data(let position) = content { body(position) }
      for (_, location) in below { location.forEachPosition(body) }
    }
  }

  private var slots: [Change?] = []
  private var root = Location()
  /// Whether all changes are data at different paths, so that their order does not matter.
  private var isUnordered = true
  package private(set) var count = 0

  package init() {}

  /// The remaining changes; neighbours in the tree are adjacent where the order allows it.
  ///
  /// - Complexity: O(n)
  package var changes: [Change] {
    // As long as the order does not matter, all changes are at locations below this root.
    guard isUnordered else { return slots.compactMap(\.self) }
    var changes: [Change] = []
    changes.reserveCapacity(count)
    root.forEachPosition { position in
      if let change = slots[position] { changes.append(change) }
    }
    return changes
  }

  package mutating func add(_ changes: [Change]) {
    for change in changes { add(change) }
  }

  /// Appends a change.
  ///
  /// - Complexity: O(depth · log n), amortised; for data within other data, also the cost of
  ///   updating that
  package mutating func add(_ change: Change) {
    var location = root
    for (depth, key) in change.path.keys.enumerated() {
      if case .data(let position) = location.content {
        return add(change, within: position, at: depth)
      }
      if let next = location.below[key] {
        location = next
      } else {
        let next = Location()
        location.below.insert(next, forKey: key)
        location = next
      }
    }
    add(change, at: location)
  }

  /// Adds a change at a location that does not lie within other data.
  private mutating func add(_ change: Change, at location: Location) {
    guard !change.node.isEmpty, !change.path.isPriority else {
      if case .nothing = location.content, location.below.isEmpty {
        isUnordered = false
        location.content = .fixed
        append(change)
      } else {
        addApart(change)
      }
      return
    }
    switch location.content {
    case .data(let position): slots[position] = change
    case .fixed: addApart(change)
    case .nothing:
      guard let replaceable = location.replaceable else { return addApart(change) }
      guard let first = replaceable.min() else {
        location.content = .data(slots.count)
        return append(change)
      }
      for position in replaceable { slots[position] = nil }
      slots[first] = change
      count -= replaceable.count - 1
      location.content = .data(first)
      location.below = SortedMap()
    }
  }

  /// Makes a change part of data above it that has not been written yet.
  private mutating func add(_ change: Change, within position: Int, at depth: Int) {
    guard let outer = slots[position] else { return addApart(change) }
    let below = Path(change.path.keys.dropFirst(depth))
    // Cleared first, so that the node is changed in place.
    slots[position] = nil
    let node = outer.node.setting(below, to: change.node)
    slots[position] = node.isEmpty ? outer : Change(outer.path, to: node)
    if node.isEmpty { addApart(change) }
  }

  /// Adds a change that no earlier change may be merged with.
  private mutating func addApart(_ change: Change) {
    isUnordered = false
    root = Location()
    append(change)
  }

  private mutating func append(_ change: Change) {
    slots.append(change)
    count += 1
  }
}
