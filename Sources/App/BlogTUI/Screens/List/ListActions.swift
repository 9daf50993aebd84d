import BlogModel

enum ListActions {
  static let motions = BoundAction.motions(
    in: .list,
    toTop: ([".", "g g", "Home"], "to the top, where new posts are")
  ) { model, motion in
    model.session.moveInList(motion)
  }

  static let all: [BoundAction] = [
    BoundAction(.open, keys: ["Enter", "l", "Right"], in: [.list], help: "open the post") { model in
      model.session.feed.list.selection.map { model.open($0) } ?? []
    }
    .hint("open", rank: 2)
    .unless { $0.session.feed.list.selection == nil ? .nothingThere : nil },
    BoundAction(.compose, keys: ["c"], in: [.list], help: "write a post") { $0.openComposer() }
      .hint("write", rank: 3),
    BoundAction(.star, keys: ["s", "*"], in: .reading, help: "star or unstar") { model in
      model.currentPost.map { model.session.star($0) } ?? []
    }
    .hint("star", rank: 4)
    .unless { $0.goneReason ?? $0.noPostReason },
    BoundAction(.delete, keys: ["d"], in: [.list], help: "delete my post") { model in
      model.question = model.currentPost.map { .delete(.deletePost($0.id)) }
    }
    .hint("delete", rank: 6)
    .unless { $0.reasonAgainstPost("delete") },
    BoundAction(.delete, keys: ["d"], in: [.post], help: "delete my post, or my selected comment") {
      $0.askToDeleteSelection()
    }
    .hint("delete", rank: 5)
    .unless { $0.goneReason ?? $0.reasonAgainstSelection("delete") },
    tab(.recent, named: "show-recent", key: "1", help: "the newest posts"),
    tab(.top, named: "show-top", key: "2", help: "the posts with the most stars"),
    tab(.mine, named: "show-mine", key: "3", help: "my posts"),
    tab(.myTop, named: "show-my-top", key: "4", help: "my posts with the most stars"),
    tab(.following, named: "show-following", key: "5", help: "posts by those I follow"),
    tab(.bookmarks, named: "show-bookmarks", key: "6", help: "posts I bookmarked"),
    BoundAction("next-list", keys: ["Tab"], in: [.list], help: "next list") {
      $0.session.selectNeighbour(by: 1)
    }
    .hint("next list", rank: 9),
    BoundAction("previous-list", keys: ["S-Tab"], in: [.list], help: "previous list") {
      $0.session.selectNeighbour(by: -1)
    },
    BoundAction(.search, keys: ["/"], in: [.list], help: "search title, author and text") {
      $0.session.beginSearch()
    }
    .hint("search", rank: 5),
    BoundAction("next-match", keys: ["n"], in: [.list], help: "next match") {
      $0.session.moveToMatch(by: 1)
    }
    .unless(noSearch),
    BoundAction("previous-match", keys: ["N"], in: [.list], help: "previous match") {
      $0.session.moveToMatch(by: -1)
    }
    .unless(noSearch),
    BoundAction(.back, keys: ["Esc"], in: [.list], help: "end the search") { model in
      if model.session.search == nil, let effects = model.session.backFromAuthor() {
        return effects
      }
      if !model.session.feeds.restSearches.stop() { model.session.endSearch() }
      return []
    },
    BoundAction(.quit, keys: ["q", "^C"], in: [.list], help: "quit") { model in
      model.session.backFromAuthor() ?? model.quit()
    }
    .hint("quit", rank: 8),
    BoundAction("reload", keys: ["r"], in: [.list], help: "read the list again") {
      $0.session.reload()
    },
  ]

  private static func tab(
    _ kind: FeedKind,
    named name: Action,
    key: KeySequence,
    help: SafeText
  ) -> BoundAction {
    BoundAction(name, keys: [key], in: .reading, help: help) {
      $0.closePost() + $0.session.select(tab: kind)
    }
  }

  private static let noSearch: BoundAction.Condition = { model in
    model.session.search?.pattern == nil ? .note("No search yet; / searches") : nil
  }
}

enum SearchActions {
  static let all: [BoundAction] = [
    BoundAction(.send, keys: ["Enter", "^S"], in: [.search], help: "keep the matches") {
      $0.session.keepSearch()
    }
    .hint("keep", rank: 2),
    BoundAction(.back, keys: ["Esc", "^C"], in: [.search], help: "show all posts again") {
      $0.session.endSearch()
    }
    .hint("all", rank: 3),
    BoundAction(.next, keys: ["Down"], in: [.search], help: "next match") {
      $0.session.moveInList(.down)
    },
    BoundAction(.previous, keys: ["Up"], in: [.search], help: "previous match") {
      $0.session.moveInList(.up)
    },
  ]
}

/// The actions for reading posts, in a list and in an open post.
enum ReadingActions {
  static let all: [BoundAction] = [
    BoundAction("undo", keys: ["u"], in: .reading.union([.notices]), help: "undo the last change") {
      $0.undo()
    }
    .unless { $0.session.writing.undoable.isEmpty ? .note("Nothing to undo") : nil },
    BoundAction("edit", keys: ["e"], in: .reading, help: "edit what I wrote") {
      $0.edit()
    }
    .unless { $0.reasonAgainstSelection("edit") },
    BoundAction("author", keys: ["a"], in: .reading, help: "the posts of the author") {
      $0.showAuthor()
    }
    .unless { $0.currentPost?.uid.isEmpty == false ? nil : .nothingThere },
    BoundAction("follow-author", keys: ["f"], in: .reading, help: "follow or unfollow the author") {
      $0.toggleFollow()
    }
    .unless { model in
      guard let post = model.currentPost, !post.uid.isEmpty else { return .nothingThere }
      return post.uid == model.session.me.uid ? .note("Your own posts are under 3") : nil
    },
    BoundAction("bookmark", keys: ["B"], in: .reading, help: "add or remove a bookmark") {
      $0.toggleBookmark()
    }
    .unless { $0.noPostInViewReason },
    BoundAction(
      "mute-author",
      keys: ["X"],
      in: .reading,
      help: "hide or show what the author writes"
    ) { $0.toggleMute() }
    .unless { $0.otherAuthorReason },
    BoundAction(
      "block-author",
      keys: [],
      in: .reading,
      help: "refuse or allow the author's comments on my posts"
    ) { $0.toggleBlock() }
    .unless { $0.otherAuthorReason },
    BoundAction("muted", keys: [], in: .reading, help: "those I muted or blocked") {
      $0.openMuted()
    }
    .unless { $0.session.reading.lists.hasUnwanted ? nil : .note("Nobody is muted or blocked") },
    BoundAction("saved-searches", keys: ["S"], in: .reading, help: "my saved searches") {
      $0.openSearches()
    }
    .unless {
      $0.session.reading.lists.searches.isEmpty
        ? .note("No search is saved; :save-search NAME saves the one in the list") : nil
    },
    BoundAction("tags", keys: ["#"], in: .reading, help: "posts that share a tag") {
      $0.chooseTag()
    }
    .unless { $0.tagsInView.isEmpty ? .note("There is no #tag here") : nil },
    BoundAction("toggle-read", keys: ["m"], in: .reading, help: "mark as read or unread") {
      $0.toggleRead()
    }
    .unless { model in
      guard model.session.reading.marks.state != nil, let post = model.currentPost else {
        return .nothingThere
      }
      guard post.uid == model.session.me.uid, !model.hasNews(post) else { return nil }
      return .note("Your own posts are never unread")
    },
    BoundAction("mark-all-read", keys: ["M"], in: [.list], help: "mark everything as read") {
      $0.session.markAllRead()
    }
    .unless { $0.session.reading.marks.state == nil ? .nothingThere : nil },
    BoundAction("next-unread", keys: ["U"], in: .reading, help: "next unread") {
      $0.showNextUnread()
    },
    BoundAction("follow", keys: ["F"], in: [.list], help: "stay with the newest posts or not") {
      $0.session.toggleFollowing()
    },
    BoundAction("people", keys: ["w"], in: .reading, help: "who is here") {
      $0.openPeople()
    },
    look("density", of: .density, keys: ["v"], in: [.list], help: "more or less of each post"),
    look("times", of: .times, keys: ["t"], in: .reading, help: "times as ages or as dates"),
    look("day-rules", of: .dayRules, keys: ["D"], in: [.list], help: "day separators on or off"),
    look("split", of: .split, keys: ["|"], in: .reading, help: "list and post side by side"),
  ]

  /// Declares an action that switches a setting to its next value, for this session only.
  private static func look(
    _ name: Action,
    of setting: Setting,
    keys: [KeySequence],
    in contexts: Set<Context>,
    help: SafeText
  ) -> BoundAction {
    BoundAction(name, keys: keys, in: contexts, help: help) { $0.chooseNextValue(of: setting) }
  }
}
