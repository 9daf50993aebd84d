import Foundation
import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("New data glows for a second")
struct ArrivalsTests {
  /// A model that has been online for a while, on a terminal with shades.
  private static func model(_ width: Int = 80, isPostOpen: Bool = false) -> Model {
    let size = Size(width: width, height: 24)
    var model = isPostOpen ? Fixture.opened(size) : Fixture.loaded(size)
    model.send(.configured(Configuration()))
    model.send(.tick(now: Fixture.now + 5_000))
    return model
  }

  /// The texts of the runs of cells that are tinted, from the top.
  private func glowing(_ model: Model) -> [String] {
    let ground = model.session.theme[.glow].background
    let screen = view(model)
    var runs: [String] = []
    var isRun = false
    for row in 0..<screen.size.height {
      for column in 0..<screen.size.width {
        guard let cell = screen[Position(row: row, column: column)],
          cell.style.background == ground
        else {
          isRun = false
          continue
        }
        if !isRun { runs.append("") }
        runs[runs.count - 1] += cell.text
        isRun = true
      }
      isRun = false
    }
    return runs.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func post(_ id: String, by uid: String = "bob") -> Post {
    Post(id: id, uid: uid, author: uid, title: "New", body: "b", createdAt: Fixture.now)
  }

  private func changed(_ number: Int, _ change: (Post) -> Post) -> [Post] {
    var posts = Fixture.posts
    posts[number] = change(posts[number])
    return posts
  }

  private func starred(_ post: Post, by person: String?) -> Post {
    Post(
      id: post.id,
      uid: post.uid,
      author: post.author,
      title: post.title,
      body: post.body,
      starCount: post.starCount + 1,
      stars: post.stars.union(person.map { [$0] } ?? []),
      createdAt: post.createdAt
    )
  }

  @Test("A new row from someone else glows for a second, and then no timer is left")
  func row() throws {
    var model = Self.model()
    // The first row is selected, and keeps the ground of the selection.
    model.type("j")
    let atRest = model.nextTick
    model.send(.blog(.feed(.recent, posts: [post("p13")] + Fixture.posts)))
    let row = try #require(glowing(model).first)
    #expect(row.contains("New") && row.contains("bob"))
    #expect(model.nextTick == .seconds(1))
    model.send(.tick(now: Fixture.now + 5_999))
    #expect(glowing(model).count == 1)
    model.send(.tick(now: Fixture.now + 6_000))
    #expect(glowing(model) == [])
    #expect(model.nextTick == atRest)
  }

  @Test("A star from someone else makes the count glow, in the list and in the open post")
  func stars() {
    for isPostOpen in [false, true] {
      var model = Self.model(isPostOpen: isPostOpen)
      if isPostOpen {
        model.send(.blog(.post("p11", starred(Fixture.posts[1], by: "erin"))))
        #expect(glowing(model) == ["☆ 13 stars"])
      } else {
        model.send(.blog(.feed(.recent, posts: changed(2) { starred($0, by: "erin") })))
        #expect(glowing(model) == ["★    8"])
      }
    }
  }

  @Test("A new star on the selected row has the colour of news on the selection's background")
  func starOfSelectedRow() {
    var model = Self.model()
    let atRest = view(model)
    model.send(.blog(.feed(.recent, posts: changed(0) { starred($0, by: "erin") })))
    let theme = model.session.theme
    let count = view(model)[Position(row: 2, column: 78)]
    #expect(count?.text == "4" && count?.style == theme.quiet(theme.notice))
    model.send(.tick(now: Fixture.now + 6_000))
    #expect(
      view(model)[Position(row: 2, column: 78)]?.style
        == atRest[Position(row: 2, column: 78)]?.style
    )
  }

  @Test(
    "A comment from someone else glows in the open post unless they are muted",
    arguments: [false, true]
  )
  func comment(isMuted: Bool) {
    var model = Self.model(isPostOpen: true)
    if isMuted { model.send(.blog(.ownLists(OwnLists(muted: ["bob"])))) }
    model.send(.blog(.comments("p11", Fixture.comments + [BlogComment("c4", "And I!")])))
    model.type("G")
    #expect(glowing(model).contains("And I!") == !isMuted)
    model.send(.tick(now: Fixture.now + 6_000))
    #expect(glowing(model) == [])
  }

  @Test("The user's own, older and bulk changes do not glow")
  func noNews() {
    let mine = post("p13", by: "alice")
    let many = (20..<40).map { post("p\($0)") }.reversed()
    for posts in [
      [mine] + Fixture.posts, changed(1) { starred($0, by: "alice") }, many + Fixture.posts,
      Fixture.posts + [post("p01")], Array(Fixture.posts.dropFirst()),
    ] {
      var model = Self.model()
      model.send(.blog(.feed(.recent, posts: posts)))
      #expect(glowing(model) == [])
    }
    // Earlier comments are not new ones.
    var model = Self.model(isPostOpen: true)
    let earlier = BlogComment(id: "b9", uid: "bob", author: "bob", text: "Old", createdAt: 0)
    model.send(.blog(.comments("p11", [earlier] + Fixture.comments)))
    #expect(glowing(model) == [])
  }

  @Test("Nothing glows just after a connection, over a slow line, or without motion")
  func still() {
    let posts = [post("p13")] + Fixture.posts
    var reconnected = Self.model()
    reconnected.send(.blog(.connection(.offline(retryInSeconds: nil))))
    reconnected.send(.blog(.connection(.online)))
    var far = Self.model()
    var configuration = Configuration()
    configuration.isFarAway = true
    far.send(.configured(configuration))
    var still = Self.model()
    configuration = Configuration()
    configuration.settings.choose(.flag(false), for: .motion, from: .session)
    still.send(.configured(configuration))
    for var model in [reconnected, far, still] {
      model.type("j")
      model.send(.blog(.feed(.recent, posts: posts)))
      #expect(glowing(model) == [])
    }
  }

  @Test("Setting the clock back ends the glow")
  func clock() {
    var model = Self.model()
    model.type("j")
    model.send(.blog(.feed(.recent, posts: [post("p13")] + Fixture.posts)))
    #expect(glowing(model).count == 1)
    model.send(.tick(now: Fixture.now - 60_000))
    #expect(glowing(model) == [])
  }
}
