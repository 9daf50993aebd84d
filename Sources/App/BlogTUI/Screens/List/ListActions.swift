import BlogModel

/// The actions of a list of posts.
enum ListActions {
  static let motions = BoundAction.motions(
    in: .list,
    toTop: ([".", "g g", "Home"], "to the top, where new posts are")
  ) { model, motion in
    model.session.moveInList(motion)
  }

  /// The contexts in which posts are read.
  static let reading: Set<Context> = [.list, .post]

  static let all: [BoundAction] = [
    BoundAction(
      .open,
      keys: ["Enter", "l", "Right"],
      in: [.list],
      help: "open the post",
      hint: .init("open", rank: 2),
      unless: { $0.session.feed.list.selection == nil ? .nothingThere : nil },
      perform: { model in model.session.feed.list.selection.map { model.open($0) } ?? [] }
    ),
    BoundAction(
      .compose,
      keys: ["c"],
      in: [.list],
      help: "write a post",
      hint: .init("write", rank: 3),
      perform: { $0.openComposer() }
    ),
    BoundAction(
      .star,
      keys: ["s", "*"],
      in: reading,
      help: "star or unstar",
      hint: .init("star", rank: 4),
      unless: { $0.openPost?.isGone == true ? Model.goneReason : $0.noPostReason },
      perform: { model in model.currentPost.map { model.session.star($0) } ?? [] }
    ),
    BoundAction(
      .delete,
      keys: ["d"],
      in: [.list],
      help: "delete my post",
      hint: .init("delete", rank: 6),
      unless: { $0.reasonAgainstPost("delete") },
      change: { model in model.question = model.currentPost.map { .delete(.deletePost($0.id)) } }
    ),
    BoundAction(
      .delete,
      keys: ["d"],
      in: [.post],
      help: "delete my post, or my selected comment",
      hint: .init("delete", rank: 5),
      unless: { model in
        model.openPost?.isGone == true ? Model.goneReason : model.reasonAgainstSelection("delete")
      },
      change: { $0.askToDeleteSelection() }
    ),
    tab(.recent, named: "show-recent", key: "1", help: "the newest posts"),
    tab(.top, named: "show-top", key: "2", help: "the posts with the most stars"),
    tab(.mine, named: "show-mine", key: "3", help: "my posts"),
    tab(.myTop, named: "show-my-top", key: "4", help: "my posts with the most stars"),
    tab(.following, named: "show-following", key: "5", help: "the posts of those whom I follow"),
    tab(.bookmarks, named: "show-bookmarks", key: "6", help: "the posts that I have marked"),
    BoundAction(
      "next-list",
      keys: ["Tab"],
      in: [.list],
      help: "next list",
      hint: .init("next list", rank: 9),
      perform: { $0.session.selectNeighbour(by: 1) }
    ),
    BoundAction(
      "previous-list",
      keys: ["S-Tab"],
      in: [.list],
      help: "previous list",
      perform: { $0.session.selectNeighbour(by: -1) }
    ),
    BoundAction(
      .search,
      keys: ["/"],
      in: [.list],
      help: "search title, author and text",
      hint: .init("search", rank: 5),
      change: { $0.session.beginSearch() }
    ),
    BoundAction(
      "next-match",
      keys: ["n"],
      in: [.list],
      help: "next match",
      unless: noSearch,
      perform: { $0.session.moveToMatch(by: 1) }
    ),
    BoundAction(
      "previous-match",
      keys: ["N"],
      in: [.list],
      help: "previous match",
      unless: noSearch,
      perform: { $0.session.moveToMatch(by: -1) }
    ),
    BoundAction(
      .back,
      keys: ["Esc"],
      in: [.list],
      help: "end the search",
      perform: { model in
        if model.session.search == nil, let effects = model.session.backFromAuthor() {
          return effects
        }
        if !model.session.feeds.restSearches.stop() { model.session.endSearch() }
        return []
      }
    ),
    BoundAction(
      .quit,
      keys: ["q", "^C"],
      in: [.list],
      help: "quit",
      hint: .init("quit", rank: 8),
      perform: { model in model.session.backFromAuthor() ?? model.quit() }
    ),
    BoundAction(
      "reload",
      keys: ["r"],
      in: [.list],
      help: "read the list again",
      perform: { $0.session.reload() }
    ),
  ]

  private static func tab(
    _ kind: FeedKind,
    named name: Action,
    key: KeySequence,
    help: SafeText
  )
    -> BoundAction
  {
    BoundAction(
      name,
      keys: [key],
      in: reading,
      help: help,
      perform: { $0.closePost() + $0.session.select(tab: kind) }
    )
  }

  private static let noSearch: BoundAction.Condition = { model in
    model.session.search?.pattern == nil ? .note("No search yet; / searches") : nil
  }
}

/// The actions of the search line.
enum SearchActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["Enter", "^S"],
      in: [.search],
      help: "keep the matches",
      hint: .init("keep", rank: 2),
      change: { $0.session.keepSearch() }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.search],
      help: "show all posts again",
      hint: .init("all", rank: 3),
      change: { $0.session.endSearch() }
    ),
    BoundAction(
      .next,
      keys: ["Down"],
      in: [.search],
      help: "next match",
      perform: { model in
        model.session.feed.list.move(.down)
        model.session.feed.markSeen()
        return model.session.tellPosition()
      }
    ),
    BoundAction(
      .previous,
      keys: ["Up"],
      in: [.search],
      help: "previous match",
      change: { model in
        model.session.feed.list.move(.up)
        model.session.feed.markSeen()
      }
    ),
  ]
}

/// The actions for reading posts, in a list and in an open post.
enum ReadingActions {
  static let all: [BoundAction] = [
    BoundAction(
      "undo",
      keys: ["u"],
      in: ListActions.reading.union([.notices]),
      help: "undo the last change",
      unless: {
        $0.session.writing.undoable.isEmpty ? .note("Nothing to undo") : nil
      },
      perform: { $0.undo() }
    ),
    BoundAction(
      "edit",
      keys: ["e"],
      in: ListActions.reading,
      help: "edit what I wrote",
      unless: { $0.reasonAgainstSelection("edit") },
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
      "follow-author",
      keys: ["f"],
      in: ListActions.reading,
      help: "follow the author or no longer",
      unless: { model in
        guard let post = model.currentPost, !post.uid.isEmpty else { return .nothingThere }
        return post.uid == model.session.me.uid ? .note("Your own posts are under 3") : nil
      },
      perform: { $0.toggleFollow() }
    ),
    BoundAction(
      "bookmark",
      keys: ["B"],
      in: ListActions.reading,
      help: "mark the post, or no longer",
      unless: { $0.noPostInViewReason },
      perform: { $0.toggleBookmark() }
    ),
    BoundAction(
      "mute-author",
      keys: ["X"],
      in: ListActions.reading,
      help: "hide or show what the author writes",
      unless: { $0.otherAuthorReason },
      perform: { $0.toggleMute() }
    ),
    BoundAction(
      "block-author",
      keys: [],
      in: ListActions.reading,
      help: "refuse or allow the author's comments on my posts",
      unless: { $0.otherAuthorReason },
      perform: { $0.toggleBlock() }
    ),
    BoundAction(
      "muted",
      keys: [],
      in: ListActions.reading,
      help: "those whom I have muted or blocked",
      unless: { $0.session.reading.lists.hasUnwanted ? nil : .note("Nobody is muted or blocked") },
      change: { $0.openMuted() }
    ),
    BoundAction(
      "saved-searches",
      keys: ["S"],
      in: ListActions.reading,
      help: "the searches that I have saved",
      unless: {
        $0.session.reading.lists.searches.isEmpty
          ? .note("No search is saved; :save-search NAME saves the one in the list") : nil
      },
      change: { $0.openSearches() }
    ),
    BoundAction(
      "tags",
      keys: ["#"],
      in: ListActions.reading,
      help: "posts with a tag of this one",
      unless: { $0.tagsInView.isEmpty ? .note("There is no #tag here") : nil },
      perform: { $0.chooseTag() }
    ),
    BoundAction(
      "toggle-read",
      keys: ["m"],
      in: ListActions.reading,
      help: "mark as read or unread",
      unless: { model in
        guard model.session.reading.marks.state != nil, let post = model.currentPost else {
          return .nothingThere
        }
        guard post.uid == model.session.me.uid, !model.hasNews(post) else { return nil }
        return .note("Your own posts are never unread")
      },
      perform: { $0.toggleRead() }
    ),
    BoundAction(
      "mark-all-read",
      keys: ["M"],
      in: [.list],
      help: "mark everything as read",
      unless: { $0.session.reading.marks.state == nil ? .nothingThere : nil },
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
    look("density", of: .density, keys: ["v"], in: [.list], help: "more or less of each post"),
    look(
      "times",
      of: .times,
      keys: ["t"],
      in: ListActions.reading,
      help: "times as ages or as dates"
    ),
    look("day-rules", of: .dayRules, keys: ["D"], in: [.list], help: "a line between days or none"),
    look(
      "split",
      of: .split,
      keys: ["|"],
      in: ListActions.reading,
      help: "list and post side by side"
    ),
  ]

  /// Declares an action that switches a setting to its next value, for this session only.
  private static func look(
    _ name: Action,
    of setting: Setting,
    keys: [KeySequence],
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
