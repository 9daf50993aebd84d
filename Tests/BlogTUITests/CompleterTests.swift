import BlogModel
import Testing

@testable import BlogTUI

@Suite("Names, tags and emoji are completed while one writes")
struct CompleterTests {
  /// A form with the cursor in its text, and posts by bob, carol and others around it.
  private func form(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode,
    posts: [Post] = Fixture.posts
  ) -> Model {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.send(.blog(.feed(.recent, posts: posts)))
    model.type("c", .tab)
    return model
  }

  private func post(_ id: String, by author: Author, _ body: String) -> Post {
    Post(id: PostID(id), uid: author.uid, author: author.name, title: "T", body: body)
  }

  @Test("A name with blanks is completed to the letters by which it is mentioned")
  func nameWithBlanks() {
    let ann = Author(uid: "u1", name: "Ann Lee")
    var model = form(posts: [post("p2", by: ann, "a"), post("p1", by: Fixture.alice, "b")])
    model.type("@a")
    #expect(model.offers("Ann Lee  @annlee"))
    #expect(!model.offers("alice"))
    model.type(.tab)
    #expect(model.composer?.body.text == "@annlee")
  }

  @Test("Tags are offered by how often they are used")
  func tags() {
    let bob = Author(uid: "bob", name: "bob")
    var model = form(posts: [
      post("p3", by: bob, "#gold"), post("p2", by: bob, "#garden #Gold"),
      post("p1", by: bob, "#garlic #gold #garden"),
    ])
    model.type("#g")
    let rows = model.rows.compactMap { row in
      ["gold", "garden", "garlic"].first { row.contains("#" + $0) }
    }
    #expect(rows == ["gold", "garden", "garlic"])
    model.type("ar", .down, .enter)
    #expect(model.composer?.body.text == "#garlic")
    model.type(" #garlic")
    // There is nothing to complete.
    #expect(!model.offers("#garlic"))
    model.type(.enter, "x")
    #expect(model.composer?.body.text == "#garlic #garlic\nx")
  }

  @Test("Every emoji has a name of its own and can be typed and shown in two cells")
  func table() {
    #expect(Emoji.all.count > 200)
    #expect(Set(Emoji.all.map(\.key)).count == Emoji.all.count)
    for item in Emoji.all {
      let area = TextArea(text: item.text)
      #expect(area.count == 1 && area.text == item.text)
      #expect(SafeText(untrusted: item.text).width == 2, "\(item.text)")
      #expect(item.key.allSatisfy { $0.isASCII && !$0.isUppercase }, "\(item.key)")
    }
  }

  @Test(
    "The list is beside the cursor and on the screen at any size",
    arguments: [(20, 6), (40, 12), (80, 24), (119, 24), (140, 40), (200, 50)]
  )
  func place(width: Int, height: Int) throws {
    let size = Size(width: width, height: height)
    let long = Author(uid: "u1", name: "Bartholomew Featherstonehaugh-Cholmonde")
    let others = (0..<9).map { post("p\($0)", by: Author(uid: "v\($0)", name: "bea\($0)"), "x") }
    for lines in [0, 3, 60] {
      for before in ["", "見本の文字", String(repeating: "word ", count: 15)] {
        var model = form(size, posts: [post("q", by: long, "x")] + others)
        model.type(.paste(String(repeating: "\n", count: lines) + before + " "), "@b")
        let screen = view(model)
        #expect(screen.size == size)
        let cursor = try #require(screen.cursor)
        let row = try #require(model.rows.firstIndex { $0.contains("▌ Bart") })
        #expect(abs(row - cursor.row) <= 8 && row != cursor.row)
        #expect(model.rows[cursor.row].contains("@b"))
        // The last one is in view once it is chosen.
        model.type(.up)
        #expect(model.rows.contains { $0.contains("▌ bea4") })
      }
    }
  }

  @Test("A click takes an item, and a click elsewhere closes the list")
  func mouse() throws {
    var model = form(posts: ["bob", "ben"].map { post($0, by: Author(uid: $0, name: $0), "x") })
    model.type("@b")
    let row = try #require(model.rows.firstIndex { $0.contains("ben") && !$0.contains("@") })
    let column = try #require(view(model).cursor?.column)
    model.click(row, column)
    #expect(model.composer?.body.text == "@ben")
    model.type(" @b")
    model.click(20, 60)
    #expect(!model.offers("bob") && model.composer?.body.text == "@ben @b")
  }

  @Test("An item that would make the text too long is not taken")
  func limit() {
    var area = TextArea(text: "1234 @b", limit: 8)
    area.replace(from: 5, with: "@bartholomew")
    #expect(area.text == "1234 @b")
    area.replace(from: 5, with: "@bo")
    #expect(area.text == "1234 @bo")
    area.replace(from: 99, with: "x")
    #expect(area.text == "1234 @bo")
  }
}

extension Model {
  /// Whether a box at the cursor has a row with that text.
  fileprivate func offers(_ text: String) -> Bool {
    rows.contains {
      $0.contains("│  " + text) || $0.contains("│▌ " + text) || $0.contains("|> " + text)
    }
  }
}
