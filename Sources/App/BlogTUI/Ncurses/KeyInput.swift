/// One thing that ncurses read.
enum KeyInput: Hashable {
  /// Nothing is waiting.
  case nothing
  /// A sequence that stands for a key.
  case code(Int32)
  /// A character.
  case scalar(Unicode.Scalar)
}
