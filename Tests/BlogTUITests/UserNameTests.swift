import BlogModel
import Testing

@testable import BlogTUI

@Suite("The user's name")
struct UserNameTests {
  private static let question = "What shall others call you? alice"

  /// A list whose user is asked for a name.
  private func asked() -> Model {
    var model = Fixture.loaded()
    #expect(model.send(.blog(.unnamed)) == [])
    model.send(.tick(now: Fixture.now + 500))
    return model
  }

  @Test(
    "Enter and Esc accept the suggested name without a write",
    arguments: [KeyEvent.enter, .escape]
  )
  func offered(key: KeyEvent) {
    var model = asked()
    #expect(model.rows.contains { $0.hasPrefix(Self.question) })
    #expect(model.type(.key(key)) == [])
    #expect(!model.rows.contains { $0.hasPrefix(Self.question) })
    #expect(model.message?.text.string == "You are alice here; :name NAME changes that")
    #expect(model.context == .list)
  }

  @Test("Another answer is written and shown once it is stored")
  func answered() {
    var model = asked()
    model.type(.control("u"))
    #expect(model.type("Alice A.", .enter) == [.write(.rename("Alice A."))])
    #expect(model.me.name == "alice")
    model.send(.blog(.renamed(Author(uid: "alice", name: "Alice A."))))
    #expect(model.me.name == "Alice A.")
    #expect(model.rows.last?.contains("Alice A.") == true)
  }

  @Test("An invalid name is explained and stays in the line")
  func impossible() {
    var model = asked()
    model.type(.control("u"))
    #expect(model.type(.enter) == [])
    #expect(model.message?.text.string == "A user name cannot be empty.")
    // An empty answer is still an answer: nothing closes the question but Enter and Esc.
    model.type(.key(.backspace))
    #expect(model.type("Al", .enter) == [.write(.rename("Al"))])
  }

  @Test("The answer is neither completed nor kept among the commands")
  func noCommand() {
    var model = asked()
    model.type(.tab, .up)
    #expect(model.rows.contains { $0.hasPrefix(Self.question) })
    model.type("x", .enter)
    #expect(model.session.commands.history.isEmpty)
  }

  @Test("A busy user is told later instead of being interrupted")
  func busy() {
    var model = Fixture.loaded()
    model.type("c")
    model.send(.blog(.unnamed))
    #expect(model.message?.text.string == "You are alice here; :name NAME changes that")
    model.type("x")
    #expect(model.composer?.title.text == "x")
  }

  @Test(
    "Keys typed as the question opens go to the screen",
    arguments: [("cTea", .compose), ("?", .help), ("q", .list), ("x", .list)] as [(String, Context)]
  )
  func unnoticed(typed: String, context: Context) {
    var model = Fixture.loaded()
    model.send(.blog(.unnamed))
    model.send(.tick(now: Fixture.now + 499))
    model.type(.text(typed))
    #expect(model.context == context)
    #expect(model.me.name == "alice" && model.commandLine == nil)
    if context == .compose { #expect(model.composer?.title.text == "Tea") }
    #expect(model.messages.entries.contains { $0.message.text.string.contains(":name NAME") })
  }

  @Test("The database's name is adopted silently at startup and announced later")
  func known() {
    var model = Fixture.loaded()
    model.send(.blog(.named(Author(uid: "alice", name: "Alice A."))))
    #expect(model.me.name == "Alice A." && model.message == nil)
    model.send(.blog(.renamed(Author(uid: "alice", name: "Al"))))
    #expect(model.message?.text.string == "Your name is Al now")
  }

  @Test(":name shows and changes the name; a refusal says why")
  func command() {
    var model = Fixture.loaded()
    #expect(
      model.type(":name", .enter).contains { if case .write = $0 { true } else { false } } == false
    )
    #expect(model.message?.text.string == "You are alice here; :name NAME changes that")
    #expect(model.type(":name Al B.", .enter).last == .write(.rename("Al B.")))
    let reason = "your name here is that of --user"
    #expect(model.send(.blog(.failed(.rename("Al B."), reason: reason))) == [.terminal(.bell)])
    #expect(model.message?.text.string == "Your name was not changed: \(reason).")
    let long = String(repeating: "a", count: 41)
    #expect(model.type(.text(":name \(long)"), .enter).last != .write(.rename(long)))
    #expect(model.message?.text.string.hasPrefix("A user name cannot be longer than 40") == true)
  }
}
