/// What a key can mean for the program as a whole, wherever the user is.
package enum ProgramAction: CaseIterable, Hashable, Sendable {
  /// Type the name of a command.
  case commandLine
  /// Look for a command by a part of its name.
  case palette
  /// Show what was said so far.
  case messages
  /// Change how the program looks and behaves.
  case settings
  /// Watch what goes over the wire.
  case inspector
  /// Take the text to the editor of the environment.
  case editExternally
  /// Copy the post or the comment.
  case copy
  /// Copy or open one of the links of the post.
  case links
  /// Be someone else, or sign out.
  case account
  /// Leave the mouse to the terminal, or take it back.
  case toggleMouse
  /// To the next thing that fits.
  case complete
  /// To the thing before that fits.
  case completeBackwards
  /// Stop the inspector, or let it go on.
  case pause
  /// Only the next kind of events.
  case nextKind
  /// Forget all events.
  case clear
  /// Write all events to a file.
  case save
}
