import BlogModel
import Testing

@testable import BlogTUI

@Suite("Refusal screens")
struct RefusalScreenTests {
  private static let told =
    "Permission denied at /posts/p12: .write of /posts/$post (line 31) at /posts/p12: "
    + "auth.uid === data.child('uid').val() → false, where $post = \"p12\""
  private static let untold =
    "Permission denied at /posts/p12; \"hearth rules explain --as alice --write /posts/p12 VALUE\" "
    + "tells whoever runs the server which rule"

  @Test("Without an account, the status bar says so, and writing shows how to sign in")
  func withoutAccount() {
    var model = Fixture.loaded()
    #expect(!model.rows.contains { $0.contains("no account") })
    model.session.connection.isWithoutAccount = true
    #expect(model.rows.contains { $0.contains("no account: F6 signs in") })
    model.type("c")
    #expect(model.message?.text.string.contains("without an account; F6") == true)
    #expect(model.composer != nil)
    model.type(.escape, .enter, "c")
    #expect(model.message?.text.string.contains("without an account; F6") == true)
  }

  /// The lines of the footer, however many there are, as one text.
  private func footer(_ model: Model) -> String {
    model.rows.suffix(8).joined(separator: " ").split(separator: " ").joined(separator: " ")
  }

  @Test(
    "A refused star shows the path, the rule and the retry key",
    arguments: [
      told, untold,
    ]
  )
  func star(reason: String) {
    var model = Fixture.loaded()
    let effects = model.send(.blog(.failed(.star("p12", true), reason: reason)))
    #expect(effects == [.terminal(.bell)])
    let text = "The star was not saved: \(reason). s tries again."
    #expect(footer(model).contains(text))
    #expect(model.messages.entries.last?.message.text.string == text)
  }

  @Test("News hides no failure, and is among the messages", arguments: [0, 1, 2, 3])
  func news(index: Int) {
    var model = Fixture.loaded()
    model.settings.choose(.flag(true), for: .notifications, from: .session)
    let bob = Author(uid: "bob", name: "bob")
    let news: [(Event, text: String)] = [
      (.blog(.notice(.comment("p07", title: "Sourdough", by: bob))), "bob commented"),
      (.blog(.renamed(Author(uid: "alice", name: "Al"))), "Your name is Al now"),
      (.blog(.unnamed), "You are alice here"),
      (.succeeded("The report is written"), "The report is written"),
    ]
    model.type("c")
    model.send(.blog(.failed(.star("p12", true), reason: "no")))
    model.send(news[index].0)
    #expect(footer(model).contains("The star was not saved"))
    #expect(
      model.messages.entries.last?.message.text.string.contains(news[index].text) == true
    )
    model.type("d")
    #expect(model.message == nil)
    model.send(news[index].0)
    #expect(footer(model).contains(news[index].text))
  }

  @Test("A refused post returns to the form with the full reason until the next key")
  func post() {
    var model = Fixture.loaded()
    model.send(
      .blog(.failed(.post("p12", title: "Mine", body: "Text"), reason: Self.untold))
    )
    #expect(model.composer?.draft.title == "Mine")
    #expect(footer(model).contains("server which rule. Change it, or send it again."))
    model.type("x")
    #expect(!footer(model).contains("send it again"))
    #expect(
      model.messages.entries.last?.message.text.string.contains("--write /posts/p12") == true
    )
  }

  @Test("The message log keeps dismissed messages in full")
  func messages() {
    var model = Fixture.loaded(Size(width: 60, height: 24))
    model.send(.blog(.failed(.star("p12", true), reason: Self.told)))
    model.type("j")
    #expect(model.message == nil)
    model.type(":messages", .enter)
    let page = model.rows.joined(separator: " ").split(separator: " ").joined(separator: " ")
    for part in ["/posts/$post (line 31)", "auth.uid === data.child('uid').val()", "s tries again"]
    {
      #expect(page.contains(part))
    }
  }
}
