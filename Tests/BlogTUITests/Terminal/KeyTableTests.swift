import Testing

@testable import BlogTUI

@Suite("KeyTable")
struct KeyTableTests {
  private func makeTable() -> KeyTable {
    KeyTable([
      KeyBinding(keys: ["j", "Down"], action: .next, contexts: [.list], help: "Next"),
      KeyBinding(keys: ["g g", "Home"], action: .top, contexts: [.list, .post], help: "First"),
      KeyBinding(keys: ["Enter"], action: .open, contexts: [.list], help: "Open"),
      KeyBinding(keys: ["q"], action: .quit, contexts: [.help], help: "Quit"),
      KeyBinding(keys: ["?"], action: .help, contexts: [.help], help: "Help"),
    ])
  }

  @Test("A key runs the action that its context binds it to")
  func contexts() {
    var table = makeTable()
    #expect(table.match(.character("j"), in: .list) == .action(.next))
    #expect(table.match(.character("j"), in: .post) == .unbound)
    #expect(table.match(.character("q"), in: .help) == .action(.quit))
  }

  @Test("The first key of a sequence waits for the second")
  func sequences() {
    var table = makeTable()
    #expect(table.match(.character("g"), in: .post) == .pending)
    #expect(table.pendingKeys == [.character("g")])
    #expect(table.match(.character("g"), in: .post) == .action(.top))
    #expect(table.pendingKeys.isEmpty)
  }

  @Test("An unknown sequence does nothing and resets the match")
  func unknownSequences() {
    var table = makeTable()
    #expect(table.match(.character("g"), in: .list) == .pending)
    #expect(table.match(.character("j"), in: .list) == .unbound)
    #expect(table.match(.character("j"), in: .list) == .action(.next))
  }

  @Test("A sequence of four keys waits for each key without a timeout")
  func longSequences() {
    var table = KeyTable([
      KeyBinding(keys: ["g a b c"], action: .top, contexts: [.list], help: "First"),
      KeyBinding(keys: ["g a x"], action: .open, contexts: [.list], help: "Open"),
    ])
    for key in "gab" { #expect(table.match(.character(key), in: .list) == .pending) }
    #expect(table.pendingKeys == [.character("g"), .character("a"), .character("b")])
    #expect(table.match(.character("c"), in: .list) == .action(.top))
    for key in "ga" { #expect(table.match(.character(key), in: .list) == .pending) }
    #expect(
      table.continuations(in: .list).map(\.keys) == [
        [.character("b"), .character("c")], [.character("x")],
      ]
    )
    #expect(table.match(.character("x"), in: .list) == .action(.open))
    #expect(table.continuations(in: .list).isEmpty)
    for key in "ga" { #expect(table.match(.character(key), in: .list) == .pending) }
    #expect(table.match(.escape, in: .list) == .unbound)
    #expect(table.pendingKeys.isEmpty)
  }

  @Test("The help of a context lists its bindings in table order")
  func help() {
    let table = makeTable()
    #expect(table.bindings(in: .list).map(\.help.string) == ["Next", "First", "Open"])
    #expect(table.bindings(in: .list).map(\.keysText.string) == ["j, Down", "g g, Home", "Enter"])
    #expect(table.keyText(for: .top, in: .post)?.string == "g g")
    #expect(table.keyText(for: .quit, in: .post) == nil)
  }

  @Test("Conflicting bindings are found")
  func conflicts() {
    #expect(makeTable().conflicts(in: .list).isEmpty)
    let table = KeyTable([
      KeyBinding(keys: ["g g"], action: .top, contexts: [.list], help: "First"),
      KeyBinding(keys: ["g", "j"], action: .next, contexts: [.list], help: "Next"),
      KeyBinding(keys: ["j"], action: .open, contexts: [.list], help: "Open"),
    ])
    #expect(table.conflicts(in: .list) == ["g", "j"])
  }
}

extension KeyTable {
  /// The sequences that have two meanings in one context, or that begin a longer one.
  ///
  /// A valid table has none.
  func conflicts(in context: Context) -> [KeySequence] {
    let sequences = bindings(in: context).flatMap(\.keys)
    var seen: Set<KeySequence> = []
    return sequences.filter { sequence in
      let isRepeated = !seen.insert(sequence).inserted
      return isRepeated || sequences.contains { $0.continues(sequence.keys) }
    }
  }
}
