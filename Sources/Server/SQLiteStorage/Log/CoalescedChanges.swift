import RealtimeCore

/// Changes in their order, with those left out that later ones overwrite.
///
/// The result has the same effect on any tree as all changes one after the other. Data that replace
/// data go where those were, before everything in between: what is in between lies elsewhere, and to
/// what lies elsewhere it only matters that there are data, not which ones. Nothing is left out that
/// removes data or sets a priority, since the order of those does matter to others: with the last
/// data below it a location loses its priority.
struct CoalescedChanges {
  /// A location that has been changed, or lies above one.
  private final class Place {
    enum Content {
      /// Nothing here, perhaps something below.
      case nothing
      /// Data that may still be replaced, by the position of their change.
      case data(Int)
      /// A change that stays as it is.
      case fixed
    }

    var content = Content.nothing
    var below: [ChildKey: Place] = [:]

    /// The positions of all data below this location, or nil when there is something fixed.
    var replaceable: [Int]? {
      var positions: [Int] = []
      for place in below.values {
        switch place.content {
        case .nothing: break
        case .data(let position): positions.append(position)
        case .fixed: return nil
        }
        guard let more = place.replaceable else { return nil }
        positions += more
      }
      return positions
    }
  }

  private var slots: [Change?] = []
  private var root = Place()
  /// Whether all changes are data in different places, so that their order does not matter.
  private var isUnordered = true
  /// How many changes are left.
  private(set) var count = 0

  /// The changes that are left; neighbours in the tree are together where the order allows it.
  ///
  /// - Complexity: O(n log n)
  var changes: [Change] {
    let changes = slots.compactMap(\.self)
    return isUnordered ? changes.sorted { $0.path < $1.path } : changes
  }

  /// Adds the change that comes next.
  ///
  /// - Complexity: O(depth), amortised, and for data within others what an update of those takes
  mutating func add(_ change: Change) {
    var place = root
    for (depth, key) in change.path.keys.enumerated() {
      if case .data(let position) = place.content {
        return add(change, within: position, at: depth)
      }
      if let next = place.below[key] {
        place = next
      } else {
        let next = Place()
        place.below[key] = next
        place = next
      }
    }
    add(change, at: place)
  }

  /// Adds a change at a location that is within no other data.
  private mutating func add(_ change: Change, at place: Place) {
    guard !change.node.isEmpty, !change.path.isPriority else {
      if case .nothing = place.content, place.below.isEmpty {
        isUnordered = false
        place.content = .fixed
        append(change)
      } else {
        addApart(change)
      }
      return
    }
    switch place.content {
    case .data(let position): slots[position] = change
    case .fixed: addApart(change)
    case .nothing:
      guard let replaceable = place.replaceable else { return addApart(change) }
      guard let first = replaceable.min() else {
        place.content = .data(slots.count)
        return append(change)
      }
      for position in replaceable { slots[position] = nil }
      slots[first] = change
      count -= replaceable.count - 1
      place.content = .data(first)
      place.below = [:]
    }
  }

  /// Makes a change part of data above it that are still to be written.
  private mutating func add(_ change: Change, within position: Int, at depth: Int) {
    guard let outer = slots[position] else { return addApart(change) }
    let below = Path(change.path.keys.dropFirst(depth))
    // Given up first, so that it is changed in place.
    slots[position] = nil
    let node = outer.node.setting(below, to: change.node)
    slots[position] = node.isEmpty ? outer : Change(outer.path, node)
    if node.isEmpty { addApart(change) }
  }

  /// Adds a change that nothing before it may be merged with any more.
  private mutating func addApart(_ change: Change) {
    isUnordered = false
    root = Place()
    append(change)
  }

  private mutating func append(_ change: Change) {
    slots.append(change)
    count += 1
  }
}
