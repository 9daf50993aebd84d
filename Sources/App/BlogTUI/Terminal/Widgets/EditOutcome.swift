/// What a key did to a text editor.
package enum EditOutcome: Hashable, Sendable {
  /// The editor does not use the key.
  case ignored
  /// The cursor or the view moved, or the key had no further to go; the text is the same.
  case moved
  /// The text changed.
  case changed
  /// The user is done with a single-line field.
  case submitted
}
