import BlogModel
package import TerminalUI

/// The table of all keys, from which input, hints and help are made.
package typealias KeyTable = KeyMap<Action, Context>

extension KeyMap where Action == BlogTUI.Action, Context == BlogTUI.Context {
  /// The keys that everybody has who changes nothing.
  package static let standard = KeyTable(
    motion + lists + posts + writing + questions + everywhere
  )

  private static let reading: Set<Context> = [.list, .post, .help]

  private static let motion: [KeyBinding<Action, Context>] = [
    KeyBinding(["j", "Down", "^N"], .down, in: reading, help: "down"),
    KeyBinding(["k", "Up", "^P"], .up, in: reading, help: "up"),
    KeyBinding(["^D"], .halfPageDown, in: reading, help: "half a page down"),
    KeyBinding(["^U"], .halfPageUp, in: reading, help: "half a page up"),
    KeyBinding(["Space", "PgDn", "^F"], .pageDown, in: reading, help: "a page down"),
    KeyBinding(["b", "PgUp", "^B"], .pageUp, in: reading, help: "a page up"),
    KeyBinding(["g g", "Home"], .top, in: [.post, .help], help: "to the top"),
    KeyBinding([".", "g g", "Home"], .top, in: [.list], help: "to the top, where new posts are"),
    KeyBinding(["G", "End"], .bottom, in: reading, help: "to the bottom"),
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
    KeyBinding(["y"], .confirm, in: [.confirm], help: "yes; any other key changes nothing"),
    KeyBinding(["n"], .decline, in: [.confirm], help: "no"),
  ]

  private static let everywhere: [KeyBinding<Action, Context>] = [
    KeyBinding(["?", "F1"], .help, in: [.list, .post], help: "all keys"),
    KeyBinding(["F1"], .help, in: [.comment, .compose, .search], help: "all keys"),
    KeyBinding(["?", "q", "Esc", "F1", "^C"], .back, in: [.help], help: "back"),
    KeyBinding(["^L"], .redraw, in: Set(Context.allCases), help: "draw the screen again"),
    KeyBinding(["^Z"], .suspend, in: Set(Context.allCases), help: "suspend; fg goes on"),
  ]
}
