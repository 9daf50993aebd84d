import BlogModel
import Testing

@testable import BlogTUI

@Suite("Empty screens")
struct EmptyListTests {
  @Test("The commands fit the database: none for one elsewhere", arguments: ["team", "in memory"])
  func commands(database: String) {
    let size = Size(width: 80, height: 24)
    var model = Model(
      RecordingStart(me: Fixture.alice, databaseName: database, size: size, now: Fixture.now)
    )
    for event in [Event.started, .blog(.connection(.online)), .blog(.feed(.recent, posts: []))] {
      model.send(event)
    }
    let text = model.rows.joined(separator: "\n")
    #expect(text.contains("c  write a post"))
    #expect(text.contains("hearth import --sample --ephemeral") == (database == "in memory"))
    #expect(text.contains("second terminal") == (database == "in memory"))
  }
}
