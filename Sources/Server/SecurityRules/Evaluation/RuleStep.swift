internal import RealtimeCore

/// A part of an expression; the parts that it consists of are named by where they are among all.
enum RuleStep {
  case null
  case bool(Bool)
  case number(Double)
  case text(LeafText)
  case auth
  /// The member `uid` of `auth`, which nearly every rule asks for.
  case uid(at: Int32)
  case now
  case capture(Int32)
  case query(QueryMember)
  case member(Int32, name: Int32, at: Int32)
  /// The member `length`, which of text is its length.
  case length(Int32, name: Int32, at: Int32)
  case not(Int32)
  case negate(Int32, at: Int32)
  case binary(BinaryOperator, Int32, Int32, at: Int32)
  case all(Operands)
  case any(Operands)
  case ternary(Int32, Int32, Int32)
  case root
  case data
  case newData
  case parent(Int32, at: Int32)
  case child(Int32, RulePath, at: Int32)
  /// Asks for the data of a place.
  case ask(SnapshotMethod, Int32, at: Int32)
  /// Asks whether a place has all of some children.
  case hasChildren(SnapshotMethod, Int32, first: Int32, count: Int32, at: Int32)
  case string(StringMethod, Int32, Operands, at: Int32)
  case matches(Int32, pattern: Int32, at: Int32)
  /// Asks whether a text has a character of a set, which is what the simplest patterns do.
  case contains(Int32, set: Int32, at: Int32)

  /// Several parts, named one after the other in a list.
  struct Operands {
    let first: Int32
    let count: Int32

    var range: Range<Int> { Int(first)..<Int(first + count) }
  }
}

/// A way down from a location.
enum RulePath {
  /// Keys that the document spells out, in a list of all such keys, and the length of their text.
  case keys(first: Int32, count: Int32, bytes: Int32)
  /// The text that a part gives.
  case computed(Int32)
}
