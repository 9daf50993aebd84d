import BlogModel

/// The table of all keys, from which input, hints and help are made.
package typealias KeyTable = KeyMap<Action, Context>

extension KeyMap where Action == BlogTUI.Action, Context == BlogTUI.Context {
  /// The keys that everybody has who changes nothing.
  package static let standard = KeyTable(
    motion + lists + posts + reading + writing + questions + commands + everywhere
  )

  private static let scrolling: Set<Context> = [.list, .post, .help, .inspector]

  private static let motion: [KeyBinding<Action, Context>] = [
    KeyBinding(["j", "Down", "^N"], .down, in: scrolling, help: "down"),
    KeyBinding(["k", "Up"], .up, in: scrolling, help: "up"),
    KeyBinding(["^D"], .halfPageDown, in: scrolling, help: "half a page down"),
    KeyBinding(["^U"], .halfPageUp, in: scrolling, help: "half a page up"),
    KeyBinding(["Space", "PgDn", "^F"], .pageDown, in: scrolling, help: "a page down"),
    KeyBinding(["b", "PgUp", "^B"], .pageUp, in: scrolling, help: "a page up"),
    KeyBinding(["g g", "Home"], .top, in: [.post, .help, .inspector], help: "to the top"),
    KeyBinding([".", "g g", "Home"], .top, in: [.list], help: "to the top, where new posts are"),
    KeyBinding(["G", "End"], .bottom, in: scrolling, help: "to the bottom"),
  ]

  private static let lists: [KeyBinding<Action, Context>] = [
    KeyBinding(["Enter", "l", "Right"], .open, in: [.list], help: "open the post"),
    KeyBinding(["c"], .compose, in: [.list], help: "write a post"),
    KeyBinding(["s", "*"], .star, in: [.list, .post], help: "star or unstar"),
    KeyBinding(["d"], .delete, in: [.list], help: "delete my post"),
    KeyBinding(["d"], .delete, in: [.post], help: "delete my post, or my selected comment"),
    KeyBinding(["1"], .tab(.recent), in: [.list, .post], help: "the newest posts"),
    KeyBinding(["2"], .tab(.top), in: [.list, .post], help: "the posts with the most stars"),
    KeyBinding(["3"], .tab(.mine), in: [.list, .post], help: "my posts"),
    KeyBinding(["4"], .tab(.myTop), in: [.list, .post], help: "my posts with the most stars"),
    KeyBinding(["Tab"], .nextTab, in: [.list], help: "next list"),
    KeyBinding(["S-Tab"], .previousTab, in: [.list], help: "previous list"),
    KeyBinding(["/"], .search, in: [.list], help: "search title, author and text"),
    KeyBinding(["n"], .nextMatch, in: [.list], help: "next match"),
    KeyBinding(["N"], .previousMatch, in: [.list], help: "previous match"),
    KeyBinding(["Esc"], .back, in: [.list], help: "end the search"),
    KeyBinding(["q", "^C"], .quit, in: [.list], help: "quit"),
  ]

  private static let posts: [KeyBinding<Action, Context>] = [
    KeyBinding(["c", "r", "i", "Enter", "Tab"], .writeComment, in: [.post], help: "comment"),
    KeyBinding(["q", "Esc", "h", "Left", "^C"], .back, in: [.post], help: "back to the list"),
    KeyBinding(["r"], .reload, in: [.list], help: "read the list again"),
  ]

  private static let whileReading: Set<Context> = [.list, .post]

  private static let reading: [KeyBinding<Action, Context>] = [
    KeyBinding(["u"], .reading(.undo), in: whileReading, help: "take the last change back"),
    KeyBinding(["e"], .reading(.edit), in: whileReading, help: "change what I wrote"),
    KeyBinding(["a"], .reading(.author), in: whileReading, help: "the posts of the author"),
    KeyBinding(["m"], .reading(.toggleRead), in: whileReading, help: "mark as read or unread"),
    KeyBinding(["M"], .reading(.markAllRead), in: [.list], help: "mark everything as read"),
    KeyBinding(["U"], .reading(.nextUnread), in: whileReading, help: "next unread"),
    KeyBinding(["F"], .reading(.follow), in: [.list], help: "stay with the newest posts or not"),
    KeyBinding(["w"], .reading(.people), in: whileReading, help: "who is here"),
    KeyBinding(["v"], .reading(.density), in: [.list], help: "more or less of each post"),
    KeyBinding(["t"], .reading(.times), in: whileReading, help: "times as ages or as dates"),
    KeyBinding(["D"], .reading(.dayRules), in: [.list], help: "a line between days or none"),
    KeyBinding(["|"], .reading(.split), in: whileReading, help: "list and post side by side"),
  ]

  private static let writing: [KeyBinding<Action, Context>] = [
    KeyBinding(["^S", "^X"], .send, in: [.compose], help: "post"),
    KeyBinding(["Tab", "S-Tab"], .switchField, in: [.compose], help: "title or text"),
    KeyBinding(["Enter", "^S", "^X"], .send, in: [.comment], help: "send the comment"),
    KeyBinding(["Enter", "^S"], .send, in: [.search], help: "keep the matches"),
    KeyBinding(["Esc", "^C"], .back, in: [.compose], help: "back; the text can be kept"),
    KeyBinding(["Esc", "^C", "Tab"], .back, in: [.comment], help: "back; the text stays"),
    KeyBinding(["Esc", "^C"], .back, in: [.search], help: "show all posts again"),
    KeyBinding(["Down"], .down, in: [.search], help: "next match"),
    KeyBinding(["Up"], .up, in: [.search], help: "previous match"),
  ]

  private static let questions: [KeyBinding<Action, Context>] = [
    KeyBinding(["Enter"], .send, in: [.confirm], help: "the answer in brackets"),
    KeyBinding(["Tab", "Right", "l"], .down, in: [.confirm], help: "the next answer"),
    KeyBinding(["S-Tab", "Left", "h"], .up, in: [.confirm], help: "the answer before"),
    KeyBinding(
      ["y"],
      .confirm,
      in: [.confirm],
      help: "yes; where something is deleted, Enter has to follow"
    ),
    KeyBinding(["n"], .decline, in: [.confirm], help: "no; any other key changes nothing"),
  ]

  private static let pages: Set<Context> = [.list, .post, .help, .inspector]
  private static let typing: Set<Context> = [.comment, .compose, .search]

  private static let commands: [KeyBinding<Action, Context>] = [
    KeyBinding([":"], .program(.commandLine), in: pages, help: "type a command"),
    KeyBinding(["^P", "Alt-x"], .program(.palette), in: pages, help: "find a command"),
    KeyBinding(["Alt-x"], .program(.palette), in: typing, help: "find a command"),
    KeyBinding(["F2"], .program(.settings), in: pages.union(typing), help: "settings"),
    KeyBinding(["F4"], .program(.messages), in: pages.union(typing), help: "all messages"),
    KeyBinding(["F6"], .program(.account), in: pages, help: "switch account or sign out"),
    KeyBinding(["F8"], .program(.toggleMouse), in: pages.union(typing), help: "mouse on or off"),
    KeyBinding(
      ["F12"],
      .program(.inspector),
      in: pages.union(typing),
      help: "what goes over the wire"
    ),
    KeyBinding(["y"], .program(.copy), in: whileReading, help: "copy the post or comment"),
    KeyBinding(["o"], .program(.links), in: whileReading, help: "links of the post or comment"),
    KeyBinding(["^E"], .program(.editExternally), in: [.compose], help: "go on in your editor"),
    KeyBinding(["/"], .search, in: [.help], help: "search this page"),
    KeyBinding(["Enter", "^S"], .send, in: [.find], help: "keep what fits"),
    KeyBinding(["Esc", "^C"], .back, in: [.find], help: "show the whole page"),
    KeyBinding(["Enter"], .send, in: [.command], help: "do it"),
    KeyBinding(["Tab"], .program(.complete), in: [.command], help: "complete"),
    KeyBinding(
      ["S-Tab"],
      .program(.completeBackwards),
      in: [.command],
      help: "complete, backwards"
    ),
    KeyBinding(["Up", "^P"], .up, in: [.command], help: "an earlier command"),
    KeyBinding(["Down", "^N"], .down, in: [.command], help: "a later command"),
    KeyBinding(["Esc", "^C"], .back, in: [.command, .chooser], help: "back"),
    KeyBinding(["Enter"], .send, in: [.chooser], help: "take it"),
    KeyBinding(["Up", "^P"], .up, in: [.chooser], help: "up"),
    KeyBinding(["Down", "^N", "Tab"], .down, in: [.chooser], help: "down"),
    KeyBinding(["PgUp"], .pageUp, in: [.chooser], help: "a page up"),
    KeyBinding(["PgDn"], .pageDown, in: [.chooser], help: "a page down"),
    KeyBinding(["Alt-c"], .program(.copy), in: [.chooser], help: "copy the link"),
    KeyBinding(["Enter"], .open, in: [.inspector], help: "all about the event"),
    KeyBinding(["p"], .program(.pause), in: [.inspector], help: "pause or go on"),
    KeyBinding(
      ["f", "Tab"],
      .program(.nextKind),
      in: [.inspector],
      help: "only one kind of events"
    ),
    KeyBinding(["x"], .program(.clear), in: [.inspector], help: "forget all events"),
    KeyBinding(["w"], .program(.save), in: [.inspector], help: "write the events to a file"),
    KeyBinding(["q", "Esc", "^C"], .back, in: [.inspector], help: "back"),
  ]

  private static let everywhere: [KeyBinding<Action, Context>] = [
    KeyBinding(["?", "F1"], .help, in: [.list, .post, .inspector], help: "all keys"),
    KeyBinding(["F1"], .help, in: [.comment, .compose, .search], help: "all keys"),
    KeyBinding(["?", "q", "Esc", "F1", "^C"], .back, in: [.help], help: "back"),
    KeyBinding(["^L"], .redraw, in: Set(Context.allCases), help: "draw the screen again"),
    KeyBinding(["^Z"], .suspend, in: Set(Context.allCases), help: "suspend; fg goes on"),
  ]
}
