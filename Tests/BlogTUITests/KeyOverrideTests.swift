import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Configured keys")
struct KeyOverrideTests {
  private func apply(
    _ wishes: (String?, String, String)...
  ) -> (table: KeyTable, problems: [String]) {
    var problems: [ConfigurationProblem] = []
    let overrides = wishes.enumerated().map { index, wish in
      KeyOverride(context: wish.0, keys: wish.1, action: wish.2, line: index + 1)
    }
    let table = KeyTable.standard.applying(overrides, source: "c.toml", problems: &problems)
    return (table, problems.map(\.description))
  }

  private func action(_ table: KeyTable, _ keys: String, in context: Context) -> Action? {
    var table = table
    var result: Action?
    for key in keys.split(separator: " ").compactMap({ KeyEvent(description: String($0)) }) {
      if case .action(let action) = table.match(key, in: context) { result = action }
    }
    return result
  }

  @Test("A binding applies in its context only")
  func simple() {
    let (table, problems) = apply(("list", "x", "star"))
    #expect(problems == [])
    #expect(action(table, "x", in: .list) == .star)
    #expect(action(table, "x", in: .post) == nil)
    #expect(action(table, "s", in: .list) == .star)
    #expect(table.keyText(for: .star, in: .list)?.string == "x")
  }

  @Test("A binding without a context applies wherever the action does, but not in text fields")
  func everywhere() {
    let (table, problems) = apply((nil, "x", "help"))
    #expect(problems == [])
    #expect(action(table, "x", in: .list) == .help)
    #expect(action(table, "x", in: .post) == .help)
    #expect(action(table, "x", in: .compose) == nil)
  }

  @Test("A sequence replaces the binding of its first key")
  func sequences() {
    let (table, problems) = apply(("list", "d d", "delete"))
    #expect(problems == [])
    #expect(action(table, "d d", in: .list) == .delete)
    #expect(action(table, "d", in: .list) == nil)
    for context in Context.allCases { #expect(table.conflicts(in: context) == []) }
  }

  @Test("Sequences of up to four keys may share a prefix, and the screen shows what may follow")
  func longSequences() {
    let (table, problems) = apply(("list", "x a b c", "star"), ("list", "x a d", "compose"))
    #expect(problems.count == 1)
    #expect(problems[0].hasPrefix("c.toml:2: there is no action \"compose\""))
    #expect(action(table, "x a b c", in: .list) == .star)
    var model = Fixture.loaded()
    model.keys = apply(("list", "x a b c", "star"), ("list", "x a d", "write")).table
    #expect(model.type("xa") == [])
    #expect(model.rows[22].hasPrefix(" x a …  d write a post  b c star or unstar"))
    #expect(model.type("bc") == [.write(.star("p12", false))])
    model.type("x", .escape)
    #expect(!model.rows[22].hasPrefix(" x"))
    #expect(model.search == nil)
  }

  @Test("A sequence that conflicts with another one is rejected with both lines")
  func prefixes() {
    let (table, problems) = apply(
      ("list", "x a", "star"),
      ("list", "x a b", "open"),
      ("list", "x", "write"),
      ("list", "x a c d e", "open")
    )
    #expect(action(table, "x a", in: .list) == .star)
    #expect(problems.count == 3)
    #expect(problems[0].hasPrefix("c.toml:2: \"x a b\" in list collides with \"x a\" of line 1"))
    #expect(problems[1].hasPrefix("c.toml:3: \"x\" in list collides with \"x a\" of line 1"))
    #expect(problems[2] == "c.toml:4: \"x a c d e\" has 5 keys; a sequence has at most 4")
  }

  @Test("The action none unbinds a key")
  func none() {
    let (table, problems) = apply(("list", "q", "none"))
    #expect(problems == [])
    #expect(action(table, "q", in: .list) == nil)
    #expect(action(table, "^C", in: .list) == .quit)
  }

  @Test("An invalid binding is reported with its line, and the rest applies")
  func problems() {
    let (table, problems) = apply(
      ("list", "x", "fly"),
      ("nowhere", "x", "star"),
      ("list", "Ctrl-x", "star"),
      ("compose", "x", "star"),
      ("list", "^Z", "star"),
      ("compose", "x", "send"),
      ("list", "x", "star"),
      ("list", "x y", "open")
    )
    #expect(action(table, "x", in: .list) == .star)
    #expect(problems.count == 7)
    for (index, line) in [1, 2, 3, 4, 5, 6, 8].enumerated() {
      #expect(problems[index].hasPrefix("c.toml:\(line): "))
    }
    #expect(problems[0].contains("no action \"fly\""))
    #expect(problems[6].contains("of line 7"))
  }

  @Test("No configuration gives a key two actions in one context", arguments: Context.allCases)
  func noConflicts(context: Context) {
    let all = ["g", "x", "g x", "Enter", "^A", "F5", "j j"]
    let names = KeyTable.standard.actions.map(\.name)
    // One key and a third of the actions each day; three weeks try every pair.
    let day = Int(Thoroughness.seed % 21)
    for key in Thoroughness.isFull ? all : [all[day % all.count]] {
      for (number, name) in names.enumerated()
      where Thoroughness.isFull || (number + day) % 3 == 0 {
        let (table, _) = apply((context.name, key, name), (nil, "g", name))
        #expect(table.conflicts(in: context) == [])
      }
    }
  }
}
