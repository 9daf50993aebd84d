internal import RealtimeCore

/// The children of a location that its rules name, which are looked up in one pass.
///
/// What the rules of the location ask for is among them, and the children that have rules.
final class RuleNames: Sendable {
  /// The index of a name.
  typealias Place = Int32

  /// Looking up more at once costs more than it saves.
  private static let most = 16

  /// No names, so that every child is looked up by itself.
  static let none = RuleNames([])

  private let places: [String: Place]
  private let keys: [Lent<UInt8>]
  private let lent: Lent<LeafText>

  /// Takes names; none when they are many.
  init(_ names: Set<String>) {
    let sorted =
      names.count > Self.most ? [] : names.map { ($0, ChildKey($0)) }.sorted { $0.1 < $1.1 }
    let keys = sorted.map { Lent($0.0.utf8) }
    places = Dictionary(
      uniqueKeysWithValues: sorted.enumerated().map { ($1.0, Place($0)) }
    )
    self.keys = keys
    lent = Lent(keys.map { LeafText($0.elements) })
  }

  /// The names in the order of keys, to be used while somebody retains this.
  var texts: UnsafeBufferPointer<LeafText> { lent.elements }

  /// The place of a name, or nil.
  subscript(name: String) -> Place? { places[name] }
}
