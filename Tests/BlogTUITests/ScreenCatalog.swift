import Foundation

@testable import BlogModel
@testable import BlogTUI

/// Every screen and dialog of the program, by name, for a terminal of any size.
enum ScreenCatalog {
  /// Draws a screen.
  typealias Painting = @Sendable (Size, GlyphSet) throws -> Screen

  /// All screens: the forms to sign in, and those of `Goldens/catalog.txt`.
  static let all: [(name: String, paint: Painting)] =
    signingIn
    + Scene.scenes(of: Golden.folder.appendingPathComponent("catalog.txt")).map { scene in
      (
        scene.title,
        { size, glyphs in
          var player = ScenePlayer(file: scene.file, size: size, glyphs: glyphs)
          for line in scene.lines { try player.play(line) }
          return player.screen
        }
      )
    }

  static func named(_ name: String) -> Painting? { all.first { $0.name == name }?.paint }

  private static let signingIn: [(name: String, paint: Painting)] = [
    ("sign-in-choices", { SignIn(["ann", "bob"], size: $0, glyphs: $1).view() }),
    (
      "sign-up",
      { size, glyphs in
        var form = SignIn(size: size, glyphs: glyphs)
        form.choose(.signUp)
        form.type("Ann", .tab, "ann@example.org", .tab, "secret")
        return form.view()
      }
    ),
    (
      "sign-in-refused",
      { size, glyphs in
        var form = SignIn(size: size, glyphs: glyphs)
        form.choose(.signIn)
        form.type("ann@example.org", .tab, "wrong", .enter)
        _ = form.update(.failed("The email address or the password is wrong."))
        return form.view()
      }
    ),
  ]

  // MARK: What screens start from

  /// A model with unread posts, people, and writes in all states.
  static func busy(_ size: Size, glyphs: GlyphSet = .unicode) -> Model {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 100)))))
    model.send(.blog(.roundTrip(milliseconds: 3)))
    let people = ["alice", "bob"].map { name in
      let person = Author(uid: name, name: name)
      let since = Fixture.ago(minutes: 5)
      return Presence(id: name, person: person, terminal: "pts/3 on hearth", since: since)
    }
    model.send(.blog(.people(people)))
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.latestComments("p12", Array(Fixture.comments.prefix(1)))))
    model.send(.blog(.latestComments("p11", Fixture.comments)))
    model.writing.begin("p08", isOnline: false)
    model.writing.begin("p07", isOnline: true)
    model.writing.end(.star("p06", true), succeeded: true, at: Fixture.now)
    model.writing.end(.star("p05", true), succeeded: false, at: Fixture.now)
    return model
  }

  /// Traffic on the wire, with at least one event of each kind.
  static let wire: [WireEvent] = [
    event(0, .connection, "connected"),
    event(12, .listener, "observe /posts", change: .begun("1")),
    event(
      20,
      .write,
      "update /",
      "/posts/p11/starCount: {\".sv\":{\"increment\":1}}\n/posts/p11/stars/alice: true",
      change: .begun("2")
    ),
    event(
      21,
      .sent,
      "{\"t\":\"d\",\"d\":{\"r\":2,\"a\":\"m\",\"b\":{\"p\":\"/\",\"d\":{\"posts/p11/starCount\":13}}}}"
    ),
    event(24, .received, "{\"t\":\"d\",\"d\":{\"r\":2,\"b\":{\"s\":\"ok\",\"d\":\"\"}}}"),
    event(24, .write, "update / answered after 4 ms: ok", change: .ended("2")),
    event(
      30,
      .received,
      "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"posts/p11\",\"d\":{\"author\":\"alice\",\"body\":\""
        + String(repeating: "and so on ", count: 20)
        + "\",\"starCount\":13,\"stars\":{\"alice\":true,\"bob\":true}}}}}"
    ),
    event(31, .event, "child_changed /posts p11", "value: {\"starCount\":13}"),
    event(40, .transaction, "transaction /posts/p08 begins", group: "3"),
    attempt(40, 12, 1),
    attempt(48, 13, 2),
    event(52, .transaction, "transaction committed after 2 tries in 12 ms", group: "3"),
  ]

  private static func event(
    _ time: Int64,
    _ kind: WireEvent.Kind,
    _ title: String,
    _ detail: String = "",
    change: WireEvent.Change? = nil,
    group: String? = nil
  ) -> WireEvent {
    WireEvent(
      time: Fixture.now + time,
      kind: kind,
      title: title,
      detail: detail,
      change: change,
      group: group,
      size: [.sent, .received].contains(kind) ? title.utf8.count : nil
    )
  }

  /// An attempt of a transaction that adds one to this number of stars.
  private static func attempt(_ time: Int64, _ stars: Int, _ number: Int) -> WireEvent {
    func post(_ count: Int, _ stars: String) -> String {
      "{\"author\":\"bob\",\"body\":\"Thank you all.\",\"starCount\":\(count),\"stars\":{\(stars)}}"
    }
    let read = post(stars, "\"bob\":true")
    let proposed = post(stars + 1, "\"alice\":true,\"bob\":true")
    let detail = "read: \(read)\nproposed: \(proposed)"
    return event(time, .transaction, "try \(number) at /posts/p08", detail, group: "3")
  }
}

/// A text with every kind of light markup, and with text that only resembles it.
let markup = """
  A *very* good and **strong** loaf with `flour`, see [the book](https://example.org/x).

  # Heading of @bob
  - one thing that is long enough to be wrapped on a terminal of eighty columns, or on any narrower
    1. numbered
  > a quote
  ```
  let x = **code**
  ```
  ```swift
  let loaves = 2  // a day
  ```
  | flour | grams |
  |---|--:|
  | rye | 500 |
  | spelt, coarsely ground | 50 |
  ---
  snake_case_word, 2 * 3, \u{1B}]8;;https://evil.example\u{7}[bank.com](https://evil.example/) #tea
  """
