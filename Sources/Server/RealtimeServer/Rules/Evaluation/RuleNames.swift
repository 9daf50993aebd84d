internal import RealtimeCore

/// The named children of a location, which are looked up in one pass.
///
/// They include the children that the rules of the location use, and those that have rules.
final class RuleNames: Sendable {
  typealias Index = Int32
  /// A set of names: for each, the bit of its index.
  typealias Mask = UInt16

  /// The maximum number of names; looking up more at once costs more than it saves.
  private static let most = Mask.bitWidth

  /// No names, so that every child is looked up separately.
  static let none = RuleNames([])

  private let indices: [String: Index]
  private let keys: [Lent<UInt8>]
  private let lent: Lent<LeafText>

  /// Makes an index of names; it is empty if there are too many.
  init(_ names: Set<String>) {
    let sorted =
      names.count > Self.most ? [] : names.map { ($0, ChildKey($0)) }.sorted { $0.1 < $1.1 }
    let keys = sorted.map { Lent($0.0.utf8) }
    indices = Dictionary(
      uniqueKeysWithValues: sorted.enumerated().map { ($1.0, Index($0)) }
    )
    self.keys = keys
    lent = Lent(keys.map { LeafText($0.elements) })
  }

  /// The names in key order, valid as long as this object is retained.
  var texts: UnsafeBufferPointer<LeafText> { lent.elements }

  subscript(name: String) -> Index? { indices[name] }
}
