package enum LeafValue: Sendable {
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  /// Text, at most 10 MiB of UTF-8.
  case string(String)
  /// A value that the server computes when it applies the write.
  case deferred(DeferredValue)
}

/// A value that only the server can compute, written in place of a leaf.
package enum DeferredValue: Hashable, Sendable {
  /// The server's time, in milliseconds since 1970.
  case timestamp
  /// The stored number plus this whole number.
  case incrementInteger(Int64)
  /// The stored number plus this number.
  case incrementDouble(Double)
  /// A form that this version does not know, stored as JSON text; the server rejects it.
  case unknown(String)
}

extension LeafValue: Hashable {
  /// Compares by value: 1 equals 1.0, but equals neither true nor "1".
  package static func == (left: LeafValue, right: LeafValue) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.integer(let left), .double(let right)): Int64(exactly: right) == left
    case (.double(let left), .integer(let right)): Int64(exactly: left) == right
    case (.string(let left), .string(let right)): CodeUnits.areEqual(left, right)
    case (.deferred(let left), .deferred(let right)): left == right
    case (.bool, _), (.integer, _), (.double, _), (.string, _), (.deferred, _): false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(Double(value))
    case .double(let value): hasher.combine(value)
    case .string(let value): CodeUnits.hash(value, into: &hasher)
    case .deferred(let value): hasher.combine(value)
    }
  }
}

extension LeafValue: Comparable {
  /// The documented order: deferred, false, true, numbers, strings by UTF-16 code units.
  package static func < (left: LeafValue, right: LeafValue) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): !left && right
    case (.integer(let left), .integer(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.integer(let left), .double(let right)): isLess(left, than: right)
    case (.double(let left), .integer(let right)):
      Int64(exactly: left) != right && !isLess(right, than: left)
    case (.string(let left), .string(let right)): CodeUnits.precedes(left, right)
    case (.bool, _), (.integer, _), (.double, _), (.string, _), (.deferred, _):
      left.rank < right.rank
    }
  }

  /// Compares without rounding, so that the order stays strict beyond 53 bits.
  private static func isLess(_ left: Int64, than right: Double) -> Bool {
    if right >= 0x1p63 { return true }
    // Rounding up does not change which whole numbers are less than `right`.
    return right > -0x1p63 && left < Int64(right.rounded(.up))
  }

  private var rank: Int {
    switch self {
    case .deferred: 0
    case .bool: 1
    case .integer, .double: 2
    case .string: 3
    }
  }
}

extension LeafValue {
  /// Makes a leaf from a number; whole numbers within 64 bits become integers, and -0 becomes 0.
  package init(number: Double) {
    if let whole = Int64(exactly: number) {
      self = .integer(whole)
    } else {
      self = .double(number)
    }
  }

  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .bool, .string, .deferred: nil
    }
  }
}

extension Node {
  /// Whether any leaf or priority is a deferred value.
  ///
  /// - Complexity: O(size)
  package var hasDeferredValues: Bool { hasDeferredValue { _ in true } }

  /// Whether any leaf or priority is a deferred value in an unknown form.
  ///
  /// - Complexity: O(size)
  package var hasUnknownDeferredValues: Bool {
    hasDeferredValue { if case .unknown = $0 { true } else { false } }
  }

  private func hasDeferredValue(where isMeant: (DeferredValue) -> Bool) -> Bool {
    if case .deferred(let value)? = priority, isMeant(value) { return true }
    switch self {
    case .empty: return false
    case .leaf(.deferred(let value), _): return isMeant(value)
    case .leaf: return false
    case .children(let children):
      return children.packed == nil
        && children.map.contains { $0.value.hasDeferredValue(where: isMeant) }
    }
  }

  /// Whether any increment, added to the current data at this location, exceeds the largest number.
  ///
  /// - Complexity: O(size · log children)
  package func overflows(addedTo existing: Node) -> Bool {
    if priority?.overflows(addedTo: existing.priority) == true { return true }
    switch self {
    case .empty: return false
    case .leaf(let value, _): return value.overflows(addedTo: existing.leafValue)
    case .children(let children):
      return children.packed == nil
        && children.map.contains { $0.value.overflows(addedTo: existing[$0.key]) }
    }
  }

  /// The node with every deferred value resolved.
  ///
  /// - Parameters:
  ///   - existing: The current data at this location, to which increments are added.
  ///   - timestamp: The server's time, in milliseconds since 1970.
  /// - Returns: A node without deferred values, except unknown ones, which stay as they are; an
  ///   increment that overflows leaves the existing number.
  /// - Complexity: O(size · log children)
  package func resolvingDeferred(existing: Node, timestamp: Int64) -> Node {
    guard hasDeferredValues else { return self }
    let priority = priority?.resolved(existing: existing.priority, timestamp: timestamp)
    switch self {
    case .empty: return .empty
    case .leaf(let value, _):
      let resolved = value.resolved(existing: existing.leafValue, timestamp: timestamp)
      return .leaf(resolved, priority: Priority(priority))
    case .children(let children):
      let entries = children.map.map {
        (
          key: $0.key,
          value: $0.value.resolvingDeferred(existing: existing[$0.key], timestamp: timestamp)
        )
      }
      return Node(sortedChildren: entries, priority: priority)
    }
  }
}

extension LeafValue {
  func overflows(addedTo existing: LeafValue?) -> Bool {
    guard case .deferred(.incrementDouble(let amount)) = self else { return false }
    return !(amount + (existing?.number ?? 0)).isFinite
  }

  /// This value itself, or the value that a deferred value resolves to.
  func resolved(existing: LeafValue?, timestamp: Int64) -> LeafValue {
    guard case .deferred(let deferred) = self else { return self }
    switch deferred {
    case .timestamp: return .integer(timestamp)
    case .incrementInteger(let amount): return Self.sum(existing, adding: .integer(amount))
    case .incrementDouble(let amount): return Self.sum(existing, adding: LeafValue(number: amount))
    case .unknown: return self
    }
  }

  /// Adds to a number; anything else counts as zero, and an integer overflow gives a double.
  private static func sum(_ existing: LeafValue?, adding amount: LeafValue) -> LeafValue {
    guard let existing, let present = existing.number, let added = amount.number else {
      return amount
    }
    if case .integer(let left) = existing, case .integer(let right) = amount {
      let (total, overflow) = left.addingReportingOverflow(right)
      if !overflow { return .integer(total) }
    }
    let total = present + added
    return total.isFinite ? LeafValue(number: total) : existing
  }
}
