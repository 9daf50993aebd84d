/// The characters that a terminal can show.
package enum CharacterRepertoire: Hashable, Sendable {
  /// Everything that the width table knows.
  case unicode
  /// The 95 printable characters of ASCII.
  case ascii
}
