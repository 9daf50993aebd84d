/// What a key can mean while posts are read.
package enum ReadingAction: CaseIterable, Hashable, Sendable {
  /// Stay with the newest posts, or stay where I am.
  case follow
  /// Take back what I did last.
  case undo
  /// Change what I wrote.
  case edit
  /// Mark as unread what was read, and the other way round.
  case toggleRead
  /// Count everything up to now as read.
  case markAllRead
  /// To the next thing that was not read.
  case nextUnread
  /// The posts of the author.
  case author
  /// Who is here.
  case people
  /// More or less room for each post.
  case density
  /// Times as ages, or as dates.
  case times
  /// A line between days, or none.
  case dayRules
  /// The post beside the list, or in front of it.
  case split
}
