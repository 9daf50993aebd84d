import BlogModel
import Testing

@testable import BlogTUI

@Suite("Empty screens")
struct EmptyListTests {
  private static func model(
    _ kind: FeedKind = .recent,
    in database: String = "local",
    size: Size = Size(width: 80, height: 24)
  ) -> Model {
    var model = Model(
      RecordingStart(me: Fixture.alice, databaseName: database, size: size, now: Fixture.now)
    )
    _ = update(&model, with: .started)
    model.send(.blog(.connection(.online)))
    let number = (FeedKind.tabs + [.following]).firstIndex(of: kind) ?? 0
    model.type(.text("\(number + 1)"))
    model.send(.blog(.feed(kind, posts: [])))
    return model
  }

  @Test(
    "A new blog names three keys, the second terminal and the sample",
    arguments: [Size(width: 80, height: 24), Size(width: 40, height: 12)]
  )
  func welcome(size: Size) {
    let text = Self.model(size: size).rows.joined(separator: "\n")
    for part in [
      "No posts yet", "c  write a post", "?  show the keys", "q  quit", "second terminal",
      "hearth import --sample",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test("The commands fit the database: none for one elsewhere", arguments: ["team", "in memory"])
  func commands(database: String) {
    let text = Self.model(in: database).rows.joined(separator: "\n")
    #expect(text.contains("c  write a post"))
    #expect(text.contains("hearth import --sample --ephemeral") == (database == "in memory"))
    #expect(text.contains("second terminal") == (database == "in memory"))
  }

  @Test("A key that was bound anew is the one that is named")
  func bound() {
    var model = Self.model()
    var configuration = Configuration()
    configuration.keys = [KeyOverride(context: "list", keys: "c", action: "none", line: 1)]
    model.send(.configured(configuration))
    #expect(model.rows.contains { $0.contains(":write  write a post") })
  }

  @Test(
    "Every other empty list names a key that helps",
    arguments: [
      (FeedKind.top, "c writes one; s on a post stars it."), (.mine, "c writes the first one."),
      (.myTop, "c writes the first one."), (.following, "f on a post follows its author."),
    ]
  )
  func others(kind: FeedKind, line: String) {
    #expect(Self.model(kind).rows.contains { $0.contains(line) })
  }
}
