import BlogModel

/// The actions of the program as a whole, which exist in many contexts.
enum ProgramActions {
  private static let pages: Set<Context> = [.list, .post, .help, .inspector, .notices, .drafts]
  private static let typing: Set<Context> = [.comment, .compose, .search]
  private static let both = pages.union(typing)

  static let all: [BoundAction] = [
    BoundAction(
      .commandLine,
      keys: [":"],
      in: pages,
      help: "type a command",
      change: { $0.openCommandLine() }
    ),
    palette(keys: ["^P", "Alt-x"], in: pages),
    palette(keys: ["Alt-x"], in: typing),
    BoundAction(
      "settings",
      keys: ["F2"],
      in: both,
      help: "settings",
      change: { $0.openSettings() }
    ),
    BoundAction(
      "messages",
      keys: ["F4"],
      in: both,
      help: "all messages",
      change: { $0.openMessages() }
    ),
    BoundAction(
      "account",
      keys: ["F6"],
      in: pages,
      help: "switch account or sign out",
      perform: { _ in [.changeAccount] }
    ),
    connect(in: pages, hint: .init("try now", rank: 2)),
    connect(in: typing),
    BoundAction(
      "toggle-mouse",
      keys: ["F8"],
      in: both,
      help: "mouse on or off",
      perform: { $0.session.toggleMouse() }
    ),
    BoundAction(
      "inspector",
      keys: ["F12"],
      in: both,
      help: "what goes over the wire",
      perform: { $0.toggleInspector() }
    ),
    BoundAction(
      .copy,
      keys: ["y"],
      in: ListActions.reading,
      help: "copy the post or comment",
      unless: { $0.openPost?.selectedComment == nil ? $0.noPostInViewReason : nil },
      perform: { $0.copySelection() }
    ),
    BoundAction(
      "links",
      keys: ["o"],
      in: ListActions.reading,
      help: "open a link of the post or comment",
      unless: { $0.noPostInViewReason },
      change: { $0.openLinks() }
    ),
    BoundAction(
      "pipe",
      keys: ["!"],
      in: ListActions.reading,
      help: "pipe the post to a shell command",
      unless: { $0.noPostInViewReason },
      change: { $0.openCommandLine("pipe ") }
    ),
    BoundAction(
      "edit-in-editor",
      keys: ["^E"],
      in: [.compose, .comment],
      help: "continue in your editor",
      perform: { model in
        if let composer = model.composer { return [.environment(.edit(composer.draft))] }
        return model.openPost.map { [.environment(.editText($0.line.draft, on: $0.id))] } ?? []
      }
    ),
  ]

  static let everywhere: [BoundAction] = [
    help(keys: ["?", "F1"], in: [.list, .post, .inspector, .notices, .drafts]),
    help(keys: ["F1"], in: [.comment, .compose, .search]),
    BoundAction(
      .redraw,
      keys: ["^L"],
      in: Set(Context.allCases),
      help: "draw the screen again",
      perform: { _ in [.terminal(.redraw)] }
    ),
    BoundAction(
      .suspend,
      keys: ["^Z"],
      in: Set(Context.allCases),
      help: "suspend; fg resumes",
      perform: { _ in [.terminal(.suspend)] }
    ),
  ]

  private static func palette(keys: [KeySequence], in contexts: Set<Context>) -> BoundAction {
    BoundAction(
      .palette,
      keys: keys,
      in: contexts,
      help: "find a command",
      hint: contexts == pages ? .init("commands", rank: 7) : nil,
      change: { $0.openPalette() }
    )
  }

  /// Ends the pause before the next attempt to connect, or an attempt that gets no response.
  private static func connect(
    in contexts: Set<Context>,
    hint: BoundAction.Hint? = nil
  ) -> BoundAction {
    BoundAction(
      "connect",
      keys: ["^R"],
      in: contexts,
      help: "reconnect now",
      hint: hint,
      unless: { $0.session.connection.connectingReason },
      perform: { _ in [.environment(.network(false)), .environment(.network(true))] }
    )
  }

  private static func help(keys: [KeySequence], in contexts: Set<Context>) -> BoundAction {
    BoundAction(
      .help,
      keys: keys,
      in: contexts,
      help: "the keys that one needs here",
      hint: .init("help", rank: 1),
      change: { $0.openHelp() }
    )
  }
}
