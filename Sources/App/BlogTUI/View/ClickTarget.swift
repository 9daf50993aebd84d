import BlogModel

/// A part of the screen that a pointer can mean.
enum ClickTarget: Hashable {
  /// A place for text.
  enum Field: Hashable {
    case title
    case body
    case comment
    case search
    case find
    case command
    case chooser
  }

  /// A tab of the header.
  case tab(FeedKind)
  /// The list of posts, beside its rows.
  case list
  /// A row of the list, or the post shown beside it.
  case post(PostID)
  /// A line of the open post, counted from the first in view.
  case line(Int)
  /// A place for text.
  case field(Field)
  /// An answer to the question.
  case answer(Answer)
  /// One of many things to choose.
  case item(Int)
  /// What fits the command that is typed.
  case completion(Int)
  /// A row of the inspector.
  case wireEvent(Int)
  /// A hint of what a key does.
  case action(Action)
}
