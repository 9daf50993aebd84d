/// What a step of an editor did; steps of the same kind are taken back together.
enum EditStep: Hashable, Sendable {
  /// One character of a word was typed.
  case letter
  /// Something that ends a word was typed.
  case separator
  /// One character was removed.
  case removal
  /// Anything else, which always is a step of its own.
  case whole
}
