import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("Connection and delivery state")
struct TruthTests {
  @Test("All marks have distinct ASCII forms")
  func ascii() {
    let all: [Delivery] = [.local, .sent, .acknowledged(at: 0), .refused]
    let signs = all.map { $0.sign(.ascii).string } + [GlyphSet.ascii.bullet.string, " "]
    #expect(Set(signs).count == signs.count)
    #expect(signs.allSatisfy { $0.utf8.count == 1 })
  }

  @Test("Users with lookalike names are both shown with a mark")
  func names() throws {
    var model = Fixture.loaded()
    let plain = try #require(model.rows.first { $0.contains("The hearth is lit") })
    #expect(!plain.contains("~"))
    var posts = Fixture.posts
    posts[1].uid = "impostor"
    posts[1].author = "bоb"
    model.send(.blog(.feed(.recent, posts: posts)))
    for (title, uid) in [("The hearth is lit", "bob"), ("Notes from a slow train", "impostor")] {
      let row = try #require(model.rows.first { $0.contains(title) })
      #expect(row.contains("~\(NameBook.mark(of: uid)) b"), "\(row)")
    }
    model.type("w")
    let twin = Presence(
      id: "i",
      person: Author(uid: "impostor", name: "bob"),
      terminal: "pts/4",
      since: nil
    )
    model.send(.blog(.people([twin])))
    model.type("q")
    model.type("w")
    #expect(model.rows.contains { $0.contains("~\(NameBook.mark(of: "impostor")) bob  pts/4") })
  }
}
