internal import RealtimeCore

/// The cached orders of children: those that windows follow, and those of declared indexes.
///
/// An order is built when a location is first queried by it, and then follows every commit. Orders
/// that no window uses are evicted, least recently used first, when they exceed a limit.
struct IndexCache: Sendable {
  private typealias Slot = (path: Path, index: Index)

  private var locations = SortedMap<Path, [KeptOrder]>()
  /// The orders that no window uses, least recently used first.
  private var unused = SortedMap<Int, Slot>()
  private var uses = 0
  private let mostKept: Int
  private let mostEntries: Int
  /// The number of children that have been visited to build and to update orders.
  private(set) var visited = 0

  init(_ limits: ServerLimits) {
    mostKept = limits.keptOrders
    mostEntries = limits.keptOrderedChildren
  }

  subscript(path: Path) -> [KeptOrder] { locations[path] ?? [] }

  /// The children of a location in an order, for a query.
  ///
  /// - Complexity: O(n log n) when the order is not cached, else O(log locations)
  mutating func indexed(by index: Index, at path: Path, _ node: Node) -> IndexedNode {
    if ChildOrder.isFree(node, by: index) { return IndexedNode(node, by: index) }
    if let order = use(index, at: path, isDeclared: true, windows: 0) {
      return IndexedNode(node, in: order)
    }
    let order = KeptOrder(of: node, by: index, isDeclared: true)
    insert(order, at: path)
    _ = use(index, at: path, isDeclared: true, windows: 0)
    giveUpUnused()
    return IndexedNode(node, in: order.order)
  }

  /// The children of a location in an order, which a window follows from this call on.
  mutating func retain(
    _ index: Index,
    at path: Path,
    node: Node,
    isDeclared: Bool
  ) -> IndexedNode {
    if !self[path].contains(where: { $0.index == index }) {
      insert(KeptOrder(of: node, by: index, isDeclared: isDeclared), at: path)
    }
    let order = use(index, at: path, isDeclared: isDeclared, windows: 1)
    return IndexedNode(node, in: order ?? ChildOrder(of: node, by: index))
  }

  /// Reports that a window no longer follows an order.
  mutating func release(_ index: Index, at path: Path) {
    _ = use(index, at: path, isDeclared: false, windows: -1)
    guard let order = self[path].first(where: { $0.index == index }), order.windows == 0 else {
      return
    }
    if order.isDeclared {
      giveUpUnused()
    } else {
      remove(at: path) { $0.index == index }
    }
  }

  /// Applies a commit.
  ///
  /// - Returns: For each location that has changed as a whole, its orders before the commit.
  /// - Complexity: O(changed · log n) for an order below which something has changed
  mutating func update(_ effect: CommitEffect) -> [Path: [KeptOrder]] {
    var replaced: [Path: [KeptOrder]] = [:]
    let paths = locations.fewKeys ?? effect.affectedPaths(in: locations)
    for path in paths where effect.affects(path) {
      if let exchange = effect.exchange, path.count < exchange.path.count {
        visited += follow(exchange, in: effect, at: path)
        continue
      }
      let node = effect.after[path]
      guard let changed = effect.changedKeys(of: path) else {
        replaced[path] = self[path]
        replace(at: path, by: node)
        continue
      }
      let before = effect.before(at: path)
      let count = locations.modify(path) { orders in
        for slot in orders.indices { orders[slot].order.follow(changed, from: before, to: node) }
        return orders.count
      }
      visited += changed.count * (count ?? 0)
    }
    return replaced
  }

  /// Applies an exchange of data below a location, and returns the number of its orders.
  private mutating func follow(
    _ exchange: Exchange,
    in effect: borrowing CommitEffect,
    at path: Path
  ) -> Int {
    let key = exchange.path.keys[path.count]
    let isWhole = exchange.path.count == path.count + 1
    var follows = true
    let count = locations.modify(path) { orders in
      for slot in orders.indices {
        let followed: Bool
        if isWhole {
          followed = orders[slot].order.follow(key, from: exchange.old, to: exchange.new)
        } else {
          let rest = exchange.path.keys.dropFirst(path.count + 1)
          followed =
            orders[slot].order.follow(key, below: rest, from: exchange.old, to: exchange.new)
        }
        if !followed { follows = false }
      }
      return orders.count
    }
    if !follows {
      let node = effect.after[path]
      _ = locations.modify(path) { orders in
        for slot in orders.indices { orders[slot].order.rebuild(of: node) }
      }
    }
    return count ?? 0
  }

  /// Rebuilds the orders that windows use; the others are built again on demand.
  private mutating func replace(at path: Path, by node: Node) {
    remove(at: path) { $0.windows == 0 }
    let count = locations.modify(path) { orders in
      for slot in orders.indices { orders[slot].order.rebuild(of: node) }
      return orders.reduce(0) { $0 + $1.ownEntries }
    }
    visited += count ?? 0
  }

  /// Evicts all orders that no window uses, and forgets which ones are declared.
  mutating func forgetDeclarations() {
    for path in locations.map(\.key) {
      remove(at: path) { $0.windows == 0 }
      _ = locations.modify(path) { orders in
        for slot in orders.indices { orders[slot].isDeclared = false }
      }
    }
  }

  // MARK: Bookkeeping

  /// Looks up an order, adjusts its number of windows, and records its use.
  private mutating func use(
    _ index: Index,
    at path: Path,
    isDeclared: Bool,
    windows: Int
  ) -> ChildOrder? {
    guard let slot = self[path].firstIndex(where: { $0.index == index }) else { return nil }
    uses += 1
    let use = uses
    let order = locations.modify(path) { orders in
      let last = orders[slot].lastUse
      orders[slot].lastUse = use
      orders[slot].windows += windows
      if isDeclared { orders[slot].isDeclared = true }
      return (last: last, isUnused: orders[slot].windows == 0, order: orders[slot].order)
    }
    guard let order else { return nil }
    unused.removeValue(forKey: order.last)
    if order.isUnused { unused.updateValue((path, index), forKey: use) }
    return order.order
  }

  private mutating func insert(_ order: KeptOrder, at path: Path) {
    visited += order.ownEntries
    locations.updateValue(self[path] + [order], forKey: path)
  }

  private mutating func remove(at path: Path, where isUnwanted: (KeptOrder) -> Bool) {
    let orders = self[path]
    let wanted = orders.filter { !isUnwanted($0) }
    guard wanted.count < orders.count else { return }
    for order in orders where isUnwanted(order) { unused.removeValue(forKey: order.lastUse) }
    locations[path] = wanted.isEmpty ? nil : wanted
  }

  /// Evicts unused orders above the limits, least recently used first.
  ///
  /// - Complexity: O(orders without a window), which a limit bounds
  private mutating func giveUpUnused() {
    var total = unused.reduce(0) { $0 + ownEntries($1.value) }
    while unused.count > mostKept || total > mostEntries, let (_, slot) = unused.first {
      total -= ownEntries(slot)
      remove(at: slot.path) { $0.index == slot.index }
    }
  }

  private func ownEntries(_ slot: Slot) -> Int {
    self[slot.path].first { $0.index == slot.index }?.ownEntries ?? 0
  }
}

extension CommitEffect {
  /// The children of a location in or below which something has changed, each once; nil when the
  /// location itself, or one above it, has changed.
  fileprivate func changedKeys(of path: Path) -> [ChildKey]? {
    if paths.count == 1 {
      let changed = paths[0]
      if changed.contains(path) { return nil }
      guard path.contains(changed), !changed.keys[path.count].isPriority else { return [] }
      return [changed.keys[path.count]]
    }
    var keys: [ChildKey] = []
    var known: Set<ChildKey> = []
    for changed in paths {
      if changed.contains(path) { return nil }
      guard path.contains(changed), case let key = changed.keys[path.count], !key.isPriority else {
        continue
      }
      if known.insert(key).inserted { keys.append(key) }
    }
    return keys
  }
}

/// The order of a location's children by one index, shared by all windows and queries that use it.
struct KeptOrder: Sendable {
  fileprivate(set) var order: ChildOrder
  /// The number of windows that use it.
  var windows = 0
  /// Whether it is kept when no window uses it any more.
  var isDeclared: Bool
  /// The time of the last use, as a count of uses.
  var lastUse = 0

  init(of node: Node, by index: Index, isDeclared: Bool) {
    order = ChildOrder(of: node, by: index)
    self.isDeclared = isDeclared
  }

  var index: Index { order.index }

  /// The number of positions of its own, which cost memory.
  var ownEntries: Int { order.positionCount }
}
