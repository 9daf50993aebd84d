/// One thing that a user or a terminal did: a key, a paste, the mouse, a new size.
package enum KeyEvent: Hashable, Sendable {
  /// A character that can be typed, a blank included.
  case character(Character)
  /// The control key with a lower-case letter or one of `@ [ \ ] ^ _`.
  case control(Character)
  /// The Alt (Meta) key with another key.
  indirect case alt(KeyEvent)
  /// Arrow up.
  case up
  /// Arrow down.
  case down
  /// Arrow left.
  case left
  /// Arrow right.
  case right
  /// The control key with the arrow left.
  case controlLeft
  /// The control key with the arrow right.
  case controlRight
  /// Home.
  case home
  /// End.
  case end
  /// Page up.
  case pageUp
  /// Page down.
  case pageDown
  /// Insert.
  case insert
  /// Delete, which removes what follows the cursor.
  case delete
  /// Backspace, which removes what precedes the cursor.
  case backspace
  /// Tab.
  case tab
  /// Tab with the shift key.
  case backTab
  /// Enter or Return.
  case enter
  /// Escape alone.
  case escape
  /// A function key, counted from 1.
  case function(Int)
  /// Text that came from the clipboard at once, exactly as the terminal sent it.
  case paste(String)
  /// The mouse.
  case mouse(MouseEvent)
  /// The terminal has a new size.
  case resize(Size)
}
