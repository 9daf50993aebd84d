/// The side of a field at which its text sits.
package enum Alignment: Hashable, Sendable {
  /// At the left.
  case leading
  /// In the middle.
  case center
  /// At the right.
  case trailing
}
