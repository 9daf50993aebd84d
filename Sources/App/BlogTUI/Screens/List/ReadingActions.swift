import BlogModel

/// What keys do for readers of posts, in a list and in an open post.
enum ReadingActions {
  static let all: [BoundAction] = [
    BoundAction(
      "undo",
      keys: ["u"],
      in: ListActions.reading,
      help: "take the last change back",
      unless: {
        $0.session.reading.changes.isEmpty ? .note("There is nothing to take back.") : nil
      },
      perform: { $0.undo() }
    ),
    BoundAction(
      "edit",
      keys: ["e"],
      in: ListActions.reading,
      help: "change what I wrote",
      unless: { $0.obstacleToSelection("change") },
      change: { $0.edit() }
    ),
    BoundAction(
      "author",
      keys: ["a"],
      in: ListActions.reading,
      help: "the posts of the author",
      unless: { $0.currentPost?.uid.isEmpty == false ? nil : .nothingThere },
      perform: { $0.showAuthor() }
    ),
    BoundAction(
      "toggle-read",
      keys: ["m"],
      in: ListActions.reading,
      help: "mark as read or unread",
      unless: { model in
        guard model.session.reading.state != nil, let post = model.currentPost else {
          return .nothingThere
        }
        guard post.uid == model.session.me.uid, !model.hasNews(post) else { return nil }
        return .note("Your own posts are never unread.")
      },
      perform: { $0.toggleRead() }
    ),
    BoundAction(
      "mark-all-read",
      keys: ["M"],
      in: [.list],
      help: "mark everything as read",
      unless: { $0.session.reading.state == nil ? .nothingThere : nil },
      perform: { $0.session.markAllRead() }
    ),
    BoundAction(
      "next-unread",
      keys: ["U"],
      in: ListActions.reading,
      help: "next unread",
      change: { $0.showNextUnread() }
    ),
    BoundAction(
      "follow",
      keys: ["F"],
      in: [.list],
      help: "stay with the newest posts or not",
      perform: { $0.session.toggleFollowing() }
    ),
    BoundAction(
      "people",
      keys: ["w"],
      in: ListActions.reading,
      help: "who is here",
      change: { $0.openPeople() }
    ),
    look("density", .density, ["v"], in: [.list], help: "more or less of each post"),
    look("times", .times, ["t"], in: ListActions.reading, help: "times as ages or as dates"),
    look("day-rules", .dayRules, ["D"], in: [.list], help: "a line between days or none"),
    look("split", .split, ["|"], in: ListActions.reading, help: "list and post side by side"),
  ]

  /// Declares an action that chooses the next value of a setting, until the program ends.
  private static func look(
    _ name: Action,
    _ setting: Setting,
    _ keys: [KeySequence],
    in contexts: Set<Context>,
    help: SafeText
  ) -> BoundAction {
    BoundAction(
      name,
      keys: keys,
      in: contexts,
      help: help,
      change: { $0.chooseNextValue(of: setting) }
    )
  }
}
