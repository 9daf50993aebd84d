package import RealtimeCore

/// A sequence of changes without those that later ones overwrite.
///
/// The result has the same effect on any tree as all changes in their order. Data that replace data take
/// their position in the sequence, before the changes in between. Those are at other paths, where it only
/// matters that there are data, not which. Removals and priorities are never left out, because their
/// order matters: a location loses its priority with the last data below it.
package struct CoalescedChanges {
  /// A location that has been changed, or lies above one.
  ///
  // Safety: it stays within the sequence that has made it, which is not Sendable.
  private final class Location: @unchecked Sendable {
    enum Content {
      /// Nothing here, perhaps something below.
      case nothing
      /// Data that may still be replaced, by the position of their change.
      case data(Int)
      /// A change that stays as it is.
      case fixed
    }

    var content = Content.nothing
    var below = SortedMap<ChildKey, Location>()

    /// The positions of all data below this location, or nil when there is something fixed.
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

    /// Gives the positions of all data at and below this location, in the order of their paths.
    ///
    /// Sorting the paths afterwards was a seventh of everything that a store does for a write.
    func forEachPosition(_ body: (Int) -> Void) {
      if case .data(let position) = content { body(position) }
      for (_, location) in below { location.forEachPosition(body) }
    }
  }

  private var slots: [Change?] = []
  private var root = Location()
  /// Whether all changes are data at different paths, so that their order does not matter.
  private var isUnordered = true
  /// How many changes are left.
  package private(set) var count = 0

  /// Makes an empty sequence.
  package init() {}

  /// The remaining changes; neighbours in the tree stand together where the order allows it.
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

  /// Adds the change that comes next.
  ///
  /// - Complexity: O(depth · log n), amortised, and for data within others what an update of those takes
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
        location.below[key] = next
        location = next
      }
    }
    add(change, at: location)
  }

  /// Adds a change at a location that is within no other data.
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

  /// Makes a change part of data above it that are still to be written.
  private mutating func add(_ change: Change, within position: Int, at depth: Int) {
    guard let outer = slots[position] else { return addApart(change) }
    let below = Path(change.path.keys.dropFirst(depth))
    // Given up first, so that it is changed in location.
    slots[position] = nil
    let node = outer.node.setting(below, to: change.node)
    slots[position] = node.isEmpty ? outer : Change(outer.path, to: node)
    if node.isEmpty { addApart(change) }
  }

  /// Adds a change with which no earlier one may be merged.
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
