import BlogModel
import Testing

@testable import BlogTUI

@Suite("The blog as lines")
struct PlainBlogTests {
  private func loaded() -> PlainBlog {
    var plain = PlainBlog(me: Fixture.alice)
    _ = plain.take(.feed(.recent, posts: Fixture.posts))
    return plain
  }

  @Test("Each event is one line, what matters first")
  func events() {
    var plain = PlainBlog(me: Fixture.alice)
    #expect(
      plain.take(.feed(.recent, posts: Fixture.posts))
        == ["9 posts. Type help for commands, list for the posts."]
    )
    var posts = Fixture.posts
    posts[1].starCount += 1
    posts.insert(Post(id: "p13", uid: "bob", author: "bob", title: "News", body: "x"), at: 0)
    #expect(
      plain.take(.feed(.recent, posts: posts))
        == ["13 stars for Notes from a slow train.", "New post by bob: News."]
    )
    posts.remove(at: 0)
    #expect(plain.take(.feed(.recent, posts: posts)) == ["Deleted post: News."])
    #expect(plain.take(.connection(.online)) == ["Online."])
    #expect(plain.take(.connection(.online)) == [])
    #expect(plain.take(.connection(.offline(retryInSeconds: 2))).count == 1)
    #expect(plain.take(.connection(.offline(retryInSeconds: 1))) == [])
    #expect(
      plain.take(.connectionProblem(ConnectionProblem(reason: "a wrong name"))) == [
        "Offline: a wrong name."
      ]
    )
    #expect(plain.take(.connectionProblem(nil)) == [])
  }

  @Test("A post is read with its comments, and new ones are told")
  func reading() {
    var plain = loaded()
    let answer = plain.run("open 2")
    #expect(answer.effects == [.open("p11")])
    #expect(answer.lines.first == "Notes from a slow train, by alice. 12 stars.")
    #expect(plain.take(.comments("p11", Array(Fixture.comments.prefix(1)))).first == "1 comment.")
    let lines = plain.take(.comments("p11", [Fixture.comments[0], Fixture.comments[2]]))
    #expect(lines == ["New comment: Thank you both. (alice)"])
    #expect(plain.run("comment Well said").effects == [.comment("p11", text: "Well said")])
    #expect(plain.run("star").effects == [.star("p11", true)])
  }

  @Test("A post is written in lines, and a dot ends it")
  func writing() {
    var plain = loaded()
    #expect(plain.run("post").lines == ["Title?"])
    #expect(plain.run("Hello").effects == [])
    #expect(plain.run("quit").effects == [])
    #expect(plain.run("two").effects == [])
    #expect(plain.run(".").effects == [.post(title: "Hello", body: "quit\ntwo")])
    #expect(plain.run("quit").effects == [.quit])
  }

  @Test("What cannot be done is said")
  func mistakes() {
    var plain = loaded()
    #expect(plain.run("open 99").lines == ["There is no post with that number. Type list."])
    #expect(plain.run("delete 1").lines == ["Only bob can delete it."])
    #expect(plain.run("dance").lines == ["There is no command dance. Type help."])
    #expect(plain.run("comment x").lines == ["Open a post first."])
    #expect(plain.run("help").lines.count == PlainBlog.commands.count)
  }
}
