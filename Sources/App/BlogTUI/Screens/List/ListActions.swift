import BlogModel

/// What keys do in a list of posts.
enum ListActions {
  static let motions = BoundAction.motions(
    in: .list,
    toTop: ([".", "g g", "Home"], "to the top, where new posts are")
  ) { model, motion in
    model.session.moveInList(motion)
  }

  /// Where posts are read.
  static let reading: Set<Context> = [.list, .post]

  static let all: [BoundAction] = [
    BoundAction(
      .open,
      keys: ["Enter", "l", "Right"],
      in: [.list],
      help: "open the post",
      hint: .init(2, "open"),
      unless: { $0.session.feed.list.selection == nil ? .nothingThere : nil },
      perform: { model in model.session.feed.list.selection.map { model.open($0) } ?? [] }
    ),
    BoundAction(
      .compose,
      keys: ["c"],
      in: [.list],
      help: "write a post",
      hint: .init(3, "write"),
      change: { $0.openComposer() }
    ),
    BoundAction(
      .star,
      keys: ["s", "*"],
      in: reading,
      help: "star or unstar",
      hint: .init(4, "star"),
      unless: { $0.openPost?.isGone == true ? Model.goneObstacle : $0.noPostObstacle },
      perform: { model in model.currentPost.map { model.session.star($0) } ?? [] }
    ),
    BoundAction(
      .delete,
      keys: ["d"],
      in: [.list],
      help: "delete my post",
      hint: .init(6, "delete"),
      unless: { $0.obstacleToPost("delete") },
      change: { model in model.question = model.currentPost.map { .deletePost($0.id) } }
    ),
    BoundAction(
      .delete,
      keys: ["d"],
      in: [.post],
      help: "delete my post, or my selected comment",
      hint: .init(5, "delete"),
      unless: { model in
        model.openPost?.isGone == true ? Model.goneObstacle : model.obstacleToSelection("delete")
      },
      change: { $0.askToDeleteSelection() }
    ),
    tab(.recent, "show-recent", key: "1", help: "the newest posts"),
    tab(.top, "show-top", key: "2", help: "the posts with the most stars"),
    tab(.mine, "show-mine", key: "3", help: "my posts"),
    tab(.myTop, "show-my-top", key: "4", help: "my posts with the most stars"),
    BoundAction(
      "next-list",
      keys: ["Tab"],
      in: [.list],
      help: "next list",
      hint: .init(7, "next list"),
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
      hint: .init(5, "search"),
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
        model.session.endSearch()
        return []
      }
    ),
    BoundAction(
      .quit,
      keys: ["q", "^C"],
      in: [.list],
      help: "quit",
      hint: .init(8, "quit"),
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
    _ name: Action,
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
    model.session.search?.pattern == nil ? .note("Nothing was searched: / searches.") : nil
  }
}

/// What keys do while a search is typed.
enum SearchActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["Enter", "^S"],
      in: [.search],
      help: "keep the matches",
      hint: .init(2, "keep"),
      change: { $0.session.keepSearch() }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.search],
      help: "show all posts again",
      hint: .init(3, "all"),
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
