extension Node {
  /// Whether any leaf or priority waits for the server to decide it.
  ///
  /// - Complexity: O(size)
  package var hasDeferredValues: Bool {
    if case .deferred? = priority { return true }
    switch self {
    case .empty: return false
    case .leaf(.deferred, _): return true
    case .leaf: return false
    case .children(let children):
      return children.packed == nil && children.map.contains { $0.value.hasDeferredValues }
    }
  }

  /// Whether any leaf or priority is a deferred value of a form that no one knows.
  ///
  /// - Complexity: O(size)
  package var hasUnknownDeferredValues: Bool {
    if case .deferred(.unknown)? = priority { return true }
    switch self {
    case .empty: return false
    case .leaf(.deferred(.unknown), _): return true
    case .leaf: return false
    case .children(let children):
      return children.packed == nil && children.map.contains { $0.value.hasUnknownDeferredValues }
    }
  }

  /// The node with every deferred value decided.
  ///
  /// - Parameters:
  ///   - existing: The data now at this location, which increments add to.
  ///   - timestamp: The time in milliseconds since 1970.
  /// - Returns: A node without deferred values.
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
  /// This value, or what a deferred value comes to.
  func resolved(existing: LeafValue?, timestamp: Int64) -> LeafValue {
    guard case .deferred(let deferred) = self else { return self }
    switch deferred {
    case .timestamp: return .integer(timestamp)
    case .incrementInteger(let amount): return Self.sum(existing, .integer(amount))
    case .incrementDouble(let amount): return Self.sum(existing, LeafValue(number: amount))
    case .unknown: return self
    }
  }

  /// Adds to a number, where anything else counts as nothing; what overflows becomes a double.
  private static func sum(_ existing: LeafValue?, _ amount: LeafValue) -> LeafValue {
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
