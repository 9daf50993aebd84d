import BlogModel
import Testing

@testable import BlogTUI

@Suite("Tags and followed authors")
struct TagsTests {
  static func model(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  )
    -> Model
  {
    var model = Fixture.loaded(size, glyphs: glyphs)
    var posts = Fixture.posts
    posts[0].body = "For #tea and #Bread"
    posts[1].title = "A #tea of mine"
    model.send(.blog(.feed(.recent, posts: posts)))
    return model
  }

  @Test("# opens the list of a tag of the post, and q returns")
  func choosing() {
    var model = Self.model()
    model.type("#")
    #expect(model.rows.contains { $0.contains("#bread") })
    model.type(.key(.down))
    #expect(model.type(.enter) == [.request(.follow(.tag("bread")))])
    model.send(.blog(.feed(.tag("bread"), posts: [Fixture.posts[0]])))
    #expect(model.rows[0].contains("# bread 1"))
    #expect(model.type("q") == [.request(.stopFollowing(.tag("bread")))])
    #expect(model.tab == .recent)
    // A single tag requires no choice.
    model.type("j")
    #expect(model.type("#") == [.request(.follow(.tag("tea")))])
    // From one tag to another is one step back.
    #expect(model.type(":tag #Bread", .enter).contains(.request(.stopFollowing(.tag("tea")))))
    model.send(.blog(.feed(.tag("bread"), posts: [])))
    #expect(model.rows.contains { $0.contains("No post has this tag.") })
    #expect(model.type(.escape).contains(.request(.stopFollowing(.tag("bread")))))
    #expect(model.tab == .recent)
    model.type("G", "#")
    #expect(model.message?.text.string == "There is no #tag here")
    model.type(":tag two words", .enter)
    #expect(model.message?.kind == .failure)
  }

  @Test("#tea matches tags that start with tea, not the word")
  func searching() {
    var model = Self.model()
    model.type("/#te")
    #expect(model.feed.list.ids == ["p12", "p11"])
    model.type("a", .enter)
    #expect(model.feed.list.ids == ["p12", "p11"])
    model.type("/", .control("u"), "tea", .enter)
    #expect(model.feed.list.ids.count >= 2)
    model.type("/", .control("u"), "#teapot", .enter)
    #expect(model.feed.list.ids == [])
  }

  @Test("f follows the author, and a fifth list shows the posts of all followed authors")
  func following() {
    var model = Self.model()
    #expect(!model.rows[0].contains("Following"))
    #expect(model.type("f") == [.write(.follow(uid: "bob", true))])
    #expect(model.message?.text.string == "You follow bob; 5 shows all whom you follow")
    model.send(.blog(.ownLists(OwnLists(following: ["bob"]))))
    #expect(model.rows[0].contains("5 Following"))
    #expect(model.type("5") == [.request(.follow(.following))])
    model.send(.blog(.feed(.following, posts: [Fixture.posts[0]])))
    #expect(model.rows[2].contains("The hearth is lit"))
    #expect(model.type("f") == [.write(.follow(uid: "bob", false))])
    model.send(.blog(.ownLists(OwnLists())))
    model.send(.blog(.feed(.following, posts: [])))
    // The list stays as long as it is shown.
    #expect(model.rows[0].contains("5 Following"))
    #expect(model.rows.contains { $0.contains("f on a post follows its author.") })
    model.type("1")
    #expect(!model.rows[0].contains("Following"))
    model.type("j")
    #expect(model.type("f") == [])
    #expect(model.message?.text.string == "Your own posts are under 3")
    model.send(.blog(.failed(.follow(uid: "bob", true), reason: "permission denied")))
    #expect(model.message?.kind == .failure)
  }
}
