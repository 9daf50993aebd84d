import Testing

@testable import BlogTUI

@Suite("KeyMap")
struct KeyMapTests {
  enum Action: Hashable { case down, top, quit, open, help }
  enum Context: Hashable { case list, post, global }

  private func makeMap() -> KeyMap<Action, Context> {
    KeyMap([
      KeyBinding(["j", "Down"], action: .down, in: [.list], help: "Next"),
      KeyBinding(["g g", "Home"], action: .top, in: [.list, .post], help: "First"),
      KeyBinding(["Enter"], action: .open, in: [.list], help: "Open"),
      KeyBinding(["q"], action: .quit, in: [.global], help: "Quit"),
      KeyBinding(["?"], action: .help, in: [.global], help: "Help"),
    ])
  }

  @Test("A key runs the action of the first context that binds it")
  func contexts() {
    var map = makeMap()
    #expect(map.match(.character("j"), in: [.list, .global]) == .action(.down))
    #expect(map.match(.character("j"), in: [.post, .global]) == .unbound)
    #expect(map.match(.character("q"), in: [.post, .global]) == .action(.quit))
  }

  @Test("The first key of a sequence waits for the second")
  func sequences() {
    var map = makeMap()
    #expect(map.match(.character("g"), in: [.post]) == .pending)
    #expect(map.pendingKeys == [.character("g")])
    #expect(map.match(.character("g"), in: [.post]) == .action(.top))
    #expect(map.pendingKeys.isEmpty)
  }

  @Test("An unknown sequence does nothing and resets the match")
  func unknownSequences() {
    var map = makeMap()
    #expect(map.match(.character("g"), in: [.list]) == .pending)
    #expect(map.match(.character("j"), in: [.list]) == .unbound)
    #expect(map.match(.character("j"), in: [.list]) == .action(.down))
  }

  @Test("A sequence of four keys waits for each key without a timeout")
  func longSequences() {
    var map = KeyMap([
      KeyBinding(["g a b c"], action: Action.top, in: [Context.list], help: "First"),
      KeyBinding(["g a x"], action: .open, in: [.list], help: "Open"),
    ])
    for key in "gab" { #expect(map.match(.character(key), in: [.list]) == .pending) }
    #expect(map.pendingKeys == [.character("g"), .character("a"), .character("b")])
    #expect(map.match(.character("c"), in: [.list]) == .action(.top))
    for key in "ga" { #expect(map.match(.character(key), in: [.list]) == .pending) }
    #expect(
      map.continuations(in: .list).map(\.keys) == [
        [.character("b"), .character("c")], [.character("x")],
      ]
    )
    #expect(map.match(.character("x"), in: [.list]) == .action(.open))
    #expect(map.continuations(in: .list).isEmpty)
    for key in "ga" { #expect(map.match(.character(key), in: [.list]) == .pending) }
    #expect(map.match(.escape, in: [.list]) == .unbound)
    #expect(map.pendingKeys.isEmpty)
  }

  @Test("The help of a context lists its bindings in table order")
  func help() {
    let map = makeMap()
    #expect(map.bindings(in: .list).map(\.help.string) == ["Next", "First", "Open"])
    #expect(map.bindings(in: .list).map(\.keysText.string) == ["j, Down", "g g, Home", "Enter"])
    #expect(map.key(for: .top, in: .post)?.description == "g g")
    #expect(map.key(for: .quit, in: .post) == nil)
  }

  @Test("Conflicting bindings are found")
  func conflicts() {
    #expect(makeMap().conflicts(in: .list).isEmpty)
    let map = KeyMap([
      KeyBinding(["g g"], action: Action.top, in: [Context.list], help: "First"),
      KeyBinding(["g", "j"], action: .down, in: [.list], help: "Next"),
      KeyBinding(["j"], action: .open, in: [.list], help: "Open"),
    ])
    #expect(map.conflicts(in: .list) == ["g", "j"])
  }
}
