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

  @Test("A name is offered from its first letter on, and Tab takes it")
  func name() {
    var model = form()
    model.type("Hi @")
    #expect(!model.offers("bob"))
    model.type("b")
    #expect(model.offers("bob"))
    model.type(.tab)
    #expect(model.composer?.body.text == "Hi @bob")
    #expect(!model.offers("bob") && model.composer?.focus == .body)
    model.type("!", .control("_"), .control("_"))
    #expect(model.composer?.body.text == "Hi @b")
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

  @Test("People online, followed and in the comments are known, and those blocked are not")
  func people() {
    var model = Fixture.opened()
    let here = Author(uid: "u7", name: "Zora")
    model.send(.blog(.people([Presence(id: "u7/t", person: here, terminal: "t", since: 1)])))
    model.type("c", "@z")
    #expect(model.offers("Zora"))
    model.type(.tab)
    #expect(model.openPost?.line.field.text == "@Zora")
    model.type(" @美")
    #expect(model.offers("美玲"))
    model.type(.tab)
    #expect(model.openPost?.line.field.text == "@Zora @美玲")
    model.send(.blog(.ownLists(OwnLists(blocked: ["u7"]))))
    model.type(" @z")
    #expect(!model.offers("Zora"))
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

  @Test("An emoji is taken by its name, also by typing all of it")
  func emoji() {
    var model = form()
    model.type(":tad")
    #expect(model.offers("🎉 tada"))
    model.type(.tab, " :fire", ":")
    #expect(model.composer?.body.text == "🎉 🔥")
    model.type(" :+1")
    #expect(model.offers("👍 +1"))
    model.type(.tab)
    #expect(model.composer?.body.text == "🎉 🔥 👍")
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

  @Test("No emoji is offered where the terminal shows only ASCII")
  func ascii() {
    var model = form(glyphs: .ascii)
    model.type(":tad")
    #expect(!model.offers("tada"))
    model.type(.tab)
    #expect(model.composer?.focus == .title)
  }

  @Test(
    "Enter ends a line that looks like the beginning of a name",
    arguments: [
      ":)", ":D", ":p", "at 10:30", "at :30", "a:b", "::x", "me@b", "http://b", "#1", "#", "@b",
    ]
  )
  func enterEndsLine(text: String) {
    var model = form()
    model.type(Typed.text(text), .enter, "x")
    #expect(model.composer?.body.text == text + "\nx")
  }

  @Test("Enter sends a comment as it was typed unless an item was chosen")
  func enterSends() {
    var model = Fixture.opened()
    model.type("c", "Thanks @b")
    #expect(model.offers("bob"))
    let sent = Effect.write(.comment("p11", text: "Thanks @b", answering: nil))
    let effects = model.type(.enter)
    #expect(effects.contains(sent))
    model.type("c", "Thanks @b", .down, .up, .enter)
    #expect(
      model.openPost?.line.field.text == "Thanks @bob" && model.openPost?.line.isWriting == true
    )
  }

  @Test("Esc closes the list and nothing else, until another word begins")
  func escape() {
    var model = form()
    model.type("@b", .escape)
    #expect(model.question == nil && model.composer != nil && !model.offers("bob"))
    model.type("o")
    #expect(!model.offers("bob"))
    model.type(" @b")
    #expect(model.offers("bob"))
    model.type(.escape, .escape)
    #expect(model.question == .keepDraft)
  }

  @Test("Typing narrows the list, and Backspace widens it")
  func narrowing() {
    var model = form()
    model.type("@bx")
    #expect(!model.offers("bob"))
    model.type(.key(.backspace))
    #expect(model.offers("bob"))
    model.type(.key(.backspace), .key(.backspace))
    #expect(!model.offers("bob"))
  }

  @Test("Nothing is offered for what is pasted or for a word through which the cursor moves")
  func pasted() {
    var model = form()
    model.type(.paste("Hi @b"))
    #expect(!model.offers("bob"))
    model.type(.key(.left), .key(.right), .key(.backspace))
    #expect(!model.offers("bob"))
    model.type("b")
    #expect(model.offers("bob"))
    model.type(.key(.left))
    #expect(!model.offers("bob"))
  }

  @Test(
    "Nothing is offered in code",
    arguments: [
      ("`@b", false), ("`` x`y @b", false), ("`x` @b", true), ("\\`x @b", true),
      ("```\n@b", false), ("~~~~ swift\n```\n@b", false), ("```\n```\n@b", true), ("``` @b", false),
      ("```\n~~~\n@b", false), ("a `b", false),
    ]
  )
  func code(text: String, isOffered: Bool) {
    var model = form()
    model.type(.paste(String(text.dropLast())), Typed.text(String(text.suffix(1))))
    #expect(model.offers("bob") == isOffered)
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
