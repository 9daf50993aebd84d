package enum Index: Hashable, Sendable {
  /// By priority, the default.
  case priority
  case key
  case value
  /// By the value at a path below the child.
  case child(Path)

  /// The value by which this index orders a node.
  package func value(of node: Node) -> IndexValue {
    node.withView { value(of: $0) }
  }

  private func value(of node: NodeView) -> IndexValue {
    switch self {
    case .priority: node.priority.map { .leaf($0) } ?? .missing
    case .key: .missing
    case .value: IndexValue(node)
    case .child(let path):
      path.isPriority
        ? node.node[path].withView { IndexValue($0) } : IndexValue(node.descendant(at: path))
    }
  }

  /// The position of a child in this order.
  package func entry(for key: ChildKey, node: Node) -> IndexEntry {
    IndexEntry(value: value(of: node), key: key)
  }

  /// The position of a child in this order, or nil if it is missing.
  func position(of key: ChildKey, as child: NodeView) -> IndexEntry? {
    child.isEmpty ? nil : IndexEntry(value: value(of: child), key: key)
  }
}

/// A value as indexes order it: missing first, then leaves in their order, then objects, which tie.
package enum IndexValue: Hashable, Sendable, Comparable {
  case missing
  case leaf(LeafValue)
  case object

  init(_ node: NodeView) {
    switch node.content {
    case .empty: self = .missing
    case .text(let text): self = .leaf(.string(text.string))
    case .leaf(let value): self = .leaf(value)
    case .children: self = .object
    }
  }

  package static func < (left: IndexValue, right: IndexValue) -> Bool {
    switch (left, right) {
    case (.leaf(let left), .leaf(let right)): left < right
    case (.missing, .missing), (.object, .object): false
    case (.missing, _), (.leaf, .object): true
    case (.leaf, .missing), (.object, _): false
    }
  }
}

/// The position of a child in an order: its index value, then its key.
///
/// Positions are compared far more often than created. The value is therefore stored as a number
/// that sorts like it, and stored in full only if that number is not exact.
package struct IndexEntry: Sendable {
  private let rank: IndexRank
  /// The value, if other values may have the same rank.
  private let exact: Exact?
  /// The key, which breaks ties.
  package let key: ChildKey

  private final class Exact: Sendable {
    let value: IndexValue

    init(_ value: IndexValue) {
      self.value = value
    }
  }

  package init(value: IndexValue, key: ChildKey) {
    rank = IndexRank(value)
    exact = rank.isExact(for: value) ? nil : Exact(value)
    self.key = key
  }

  /// The value by which the child is ordered.
  package var value: IndexValue { exact?.value ?? rank.value ?? .missing }

  /// Whether this position comes before another one with the same rank.
  private func precedes(_ other: IndexEntry) -> Bool {
    let (left, right) = (value, other.value)
    if left < right { return true }
    if right < left { return false }
    return key < other.key
  }
}

extension IndexEntry: Comparable {
  package static func == (left: IndexEntry, right: IndexEntry) -> Bool {
    left.rank == right.rank && left.key == right.key
      && ((left.exact == nil && right.exact == nil) || left.value == right.value)
  }

  @inline(__always)
  package static func < (left: IndexEntry, right: IndexEntry) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.exact == nil, right.exact == nil { return left.key < right.key }
    return left.precedes(right)
  }
}

extension IndexEntry: Hashable {
  package func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    hasher.combine(key)
  }
}

/// A number that sorts like index values: a lesser value never has a greater rank.
///
/// The top two bits are the kind: missing, deferred and Boolean values first, then numbers, text
/// and objects. The other bits are all but the last two bits of a double, or the first bytes of a
/// text.
struct IndexRank: Hashable, Comparable, Sendable {
  private let bits: UInt64

  private static let number: UInt64 = 1 << 62
  private static let text: UInt64 = 2 << 62
  private static let object: UInt64 = 3 << 62
  /// The sign bit of a double.
  private static let sign: UInt64 = 1 << 63

  init(_ value: IndexValue) {
    switch value {
    case .missing: bits = 0
    case .leaf(.deferred): bits = 1
    case .leaf(.bool(let value)): bits = value ? 3 : 2
    case .leaf(.integer(let value)): bits = Self.bits(of: Double(value))
    case .leaf(.double(let value)): bits = Self.bits(of: value)
    case .leaf(.string(let text)): bits = Self.bits(of: text)
    case .object: bits = Self.object
    }
  }

  private static func bits(of value: Double) -> UInt64 {
    // Doubles sort by their bits once the bits of negative ones are inverted.
    let pattern = value == 0 ? 0 : value.bitPattern
    let ordered = pattern & sign == 0 ? pattern | sign : ~pattern
    return number | (ordered >> 2)
  }

  private static func bits(of string: String) -> UInt64 {
    var string = string
    let start = string.withUTF8 { bytes in
      (0..<8).reduce(UInt64(0)) { start, index in
        let byte = index < bytes.count ? CodeUnits.sortWeight(of: bytes[index]) : 0
        return (start << 8) | UInt64(byte)
      }
    }
    return text | (start >> 2)
  }

  /// A value with this rank, if one can be derived from it; other values may have the same rank.
  var value: IndexValue? {
    switch bits & Self.object {
    case Self.object: return .object
    case Self.text: return nil
    case Self.number:
      let ordered = bits << 2
      let isNegative = ordered & Self.sign == 0
      // The dropped bits of a negative number were inverted as well.
      let pattern = isNegative ? ~ordered & ~3 : ordered & ~Self.sign
      return .leaf(LeafValue(number: Double(bitPattern: pattern)))
    default:
      switch bits {
      case 0: return .missing
      case 1: return nil
      default: return .leaf(.bool(bits == 3))
      }
    }
  }

  /// Whether the rank of a value determines the value.
  func isExact(for value: IndexValue) -> Bool {
    // Fast path: a double holds such a number with more bits to spare than a rank drops.
    if case .leaf(.integer(let number)) = value, number.magnitude < 1 << 50 { return true }
    return self.value == value
  }

  static func < (left: IndexRank, right: IndexRank) -> Bool { left.bits < right.bits }
}
