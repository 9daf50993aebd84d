/// The actions of the program as a whole, which exist in many contexts.
enum ProgramActions {
  private static let pages: Set<Context> = [.list, .post, .help, .inspector, .notices, .drafts]
  private static let typing: Set<Context> = [.comment, .compose, .search]
  private static let both = pages.union(typing)
  private static let everyContext = Set(Context.allCases)

  static let all: [BoundAction] = [
    BoundAction(.commandLine, keys: [":"], in: pages, help: "type a command") {
      $0.openCommandLine()
    },
    palette(keys: ["^P", "Alt-x"], in: pages).hint("commands", rank: 7),
    palette(keys: ["Alt-x"], in: typing),
    BoundAction("settings", keys: ["F2"], in: both, help: "settings") { $0.openSettings() },
    BoundAction("messages", keys: ["F4"], in: both, help: "all messages") { $0.openMessages() },
    BoundAction("account", keys: ["F6"], in: pages, help: "switch account or sign out") { _ in
      [.changeAccount]
    },
    connect(in: pages).hint("try now", rank: 2),
    connect(in: typing),
    BoundAction("toggle-mouse", keys: ["F8"], in: both, help: "mouse on or off") {
      $0.session.toggleMouse()
    },
    BoundAction("inspector", keys: ["F12"], in: both, help: "what goes over the wire") {
      $0.toggleInspector()
    },
    BoundAction(.copy, keys: ["y"], in: .reading, help: "copy the post or comment") {
      $0.copySelection()
    }
    .unless { $0.openPost?.selectedComment == nil ? $0.noPostInViewReason : nil },
    BoundAction("links", keys: ["o"], in: .reading, help: "open a link of the post or comment") {
      $0.openLinks()
    }
    .unless { $0.noPostInViewReason },
    BoundAction("pipe", keys: ["!"], in: .reading, help: "pipe the post to a shell command") {
      $0.openCommandLine("pipe ")
    }
    .unless { $0.noPostInViewReason },
    BoundAction(
      "edit-in-editor",
      keys: ["^E"],
      in: [.compose, .comment],
      help: "continue in your editor"
    ) { model in
      if let composer = model.composer { return [.environment(.edit(composer.draft))] }
      return model.openPost.map { [.environment(.editText($0.line.draft, on: $0.id))] } ?? []
    },
  ]

  static let everywhere: [BoundAction] = [
    help(keys: ["?", "F1"], in: [.list, .post, .inspector, .notices, .drafts]),
    help(keys: ["F1"], in: [.comment, .compose, .search]),
    BoundAction(.redraw, keys: ["^L"], in: everyContext, help: "draw the screen again") { _ in
      [.terminal(.redraw)]
    },
    BoundAction(.suspend, keys: ["^Z"], in: everyContext, help: "suspend; fg resumes") { _ in
      [.terminal(.suspend)]
    },
  ]

  private static func palette(keys: [KeySequence], in contexts: Set<Context>) -> BoundAction {
    BoundAction(.palette, keys: keys, in: contexts, help: "find a command") { $0.openPalette() }
  }

  /// Ends the pause before the next attempt to connect, or an attempt that gets no response.
  private static func connect(in contexts: Set<Context>) -> BoundAction {
    BoundAction("connect", keys: ["^R"], in: contexts, help: "reconnect now") { _ in
      [.environment(.network(false)), .environment(.network(true))]
    }
    .unless { $0.session.connection.connectingReason }
  }

  private static func help(keys: [KeySequence], in contexts: Set<Context>) -> BoundAction {
    BoundAction(.help, keys: keys, in: contexts, help: "the keys you need here") {
      $0.openHelp()
    }
    .hint("help", rank: 1)
  }
}
