/// A value without children: what a leaf of the tree holds.
package enum LeafValue: Sendable {
  /// True or false.
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  /// Any other finite number.
  case double(Double)
  /// Text, at most 10 MiB of UTF-8.
  case string(String)
  /// A value that the server decides when it applies the write.
  case deferred(DeferredValue)
}

/// A value that only the server can know, written in place of a leaf.
package enum DeferredValue: Hashable, Sendable {
  /// The server's time, in milliseconds since 1970.
  case timestamp
  /// The number now stored there plus this whole number.
  case incrementInteger(Int64)
  /// The number now stored there plus this number.
  case incrementDouble(Double)
  /// A form that this version does not know, kept as JSON text; a server refuses it.
  case unknown(String)
}

extension LeafValue: Hashable {
  /// Compares by value: 1 equals 1.0, but neither equals true or "1".
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
    case (.integer(let left), .double(let right)): precedes(left, right)
    case (.double(let left), .integer(let right)):
      Int64(exactly: left) != right && !precedes(right, left)
    case (.string(let left), .string(let right)): CodeUnits.precedes(left, right)
    case (.bool, _), (.integer, _), (.double, _), (.string, _), (.deferred, _):
      left.rank < right.rank
    }
  }

  /// Compares without rounding, so that the order stays strict beyond 53 bits.
  private static func precedes(_ left: Int64, _ right: Double) -> Bool {
    if right >= 0x1p63 { return true }
    // Rounding up leaves the whole numbers below `right` the same.
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
  /// A number as a leaf: whole numbers within 64 bits become integers, negative zero becomes zero.
  package init(number: Double) {
    if let whole = Int64(exactly: number) {
      self = .integer(whole)
    } else {
      self = .double(number)
    }
  }

  /// The number this leaf holds, or nil for another kind.
  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .bool, .string, .deferred: nil
    }
  }
}
