import BlogModel
import Testing

@testable import BlogTUI

@Suite("Line mode")
struct PlainBlogTests {
  private static let now: Int64 = 1_700_000_000_000

  private func loaded() -> PlainBlog {
    var plain = PlainBlog(me: Fixture.alice)
    _ = plain.take(.feed(.recent, posts: Fixture.posts))
    _ = plain.take(.notices([]))
    return plain
  }

  @Test("Each event is one line with the key information first")
  func events() {
    var plain = PlainBlog(me: Fixture.alice)
    // Until the first connection, only its problem is told.
    #expect(plain.take(.connection(.offline(retryInSeconds: nil))) == [])
    #expect(!plain.isReady)
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

  @Test("open shows a post with its comments and reports new ones")
  func reading() {
    var plain = loaded()
    let answer = plain.run("open 2", now: Self.now)
    #expect(answer.effects == [.request(.open("p11"))])
    #expect(answer.lines.first == "Notes from a slow train, by alice. 12 stars.")
    #expect(plain.take(.comments("p11", Array(Fixture.comments.prefix(1)))).first == "1 comment.")
    let lines = plain.take(.comments("p11", [Fixture.comments[0], Fixture.comments[2]]))
    #expect(lines == ["New comment: Thank you both. (alice)"])
    #expect(
      plain.run("comment Well said", now: Self.now).effects == [
        .write(.comment("p11", text: "Well said"))
      ]
    )
    #expect(plain.run("star", now: Self.now).effects == [.write(.star("p11", true))])
  }

  @Test("The newest of many comments are printed, and earlier ones on request")
  func manyComments() {
    var plain = loaded()
    _ = plain.run("open 2", now: Self.now)
    func comment(_ number: Int) -> BlogComment {
      BlogComment(id: "k\(number)", uid: "bob", author: "bob", text: "C\(number)")
    }
    #expect(plain.run("earlier", now: Self.now).lines == ["All comments are here."])
    _ = plain.take(.hasEarlierComments("p11", true))
    let first = plain.take(.comments("p11", [comment(4), comment(5)]))
    #expect(first == ["The newest 2 comments; earlier shows more.", "C4 (bob)", "C5 (bob)"])
    // A new one takes the place of the first.
    let next = plain.take(.comments("p11", [comment(5), comment(6)]))
    #expect(next == ["New comment: C6 (bob)"])
    #expect(plain.isSettled)
    #expect(plain.run("earlier", now: Self.now).effects == [.request(.showEarlierComments("p11"))])
    #expect(!plain.isSettled)
    _ = plain.take(.hasEarlierComments("p11", false))
    let all = plain.take(.comments("p11", [comment(3), comment(5), comment(6)]))
    #expect(all == ["C3 (bob)"])
    #expect(plain.isSettled)
    #expect(plain.take(.comments("p11", [comment(3)])).count == 2)
  }

  @Test("A post is entered line by line and ends with a dot")
  func writing() {
    var plain = loaded()
    #expect(plain.run("post", now: Self.now).lines == ["Title?"])
    #expect(plain.run("Hello", now: Self.now).effects == [])
    #expect(plain.run("quit", now: Self.now).effects == [])
    #expect(plain.run("two", now: Self.now).effects == [])
    #expect(
      plain.run(".", now: Self.now).effects == [.write(.post(title: "Hello", body: "quit\ntwo"))]
    )
    #expect(plain.run("quit", now: Self.now).effects == [.quit])
  }

  @Test("The user's own post is edited line by line, and empty input keeps the old text")
  func editing() {
    var plain = loaded()
    let old = Fixture.posts[1]
    #expect(plain.run("edit 1", now: Self.now).lines == ["Only bob can change it."])
    #expect(plain.run("edit 2", now: Self.now).lines == ["Title? It is: \(old.title)"])
    _ = plain.run("", now: Self.now)
    #expect(
      plain.run(".", now: Self.now).effects == [
        .write(.edit(old.id, title: old.title, body: old.body))
      ]
    )
    #expect(!plain.isSettled)
    _ = plain.take(.succeeded(.edit(old.id, title: old.title, body: old.body)))
    #expect(plain.isSettled)
    for line in ["edit 2", "New title", "New text"] { _ = plain.run(line, now: Self.now) }
    #expect(
      plain.run(".", now: Self.now).effects == [
        .write(.edit(old.id, title: "New title", body: "New text"))
      ]
    )
  }

  @Test("search prints post numbers, follow takes one, and people lists online users")
  func searching() {
    var plain = loaded()
    #expect(
      plain.run("search tea", now: Self.now).lines == [
        "2. Notes from a slow train, by alice. 12 stars."
      ]
    )
    #expect(plain.run("search foo:bar", now: Self.now).lines[0].contains("There is no \"foo:\""))
    #expect(plain.run("search zebra", now: Self.now).lines == ["No post matches."])
    #expect(plain.run("follow 1", now: Self.now).effects == [.write(.follow(uid: "bob", true))])
    #expect(plain.run("unfollow 1", now: Self.now).effects == [.write(.follow(uid: "bob", false))])
    let bob = Author(uid: "bob", name: "bob")
    let here = Presence(id: "bob/1", person: bob, terminal: "tty1", since: nil)
    _ = plain.take(.people([here]))
    #expect(plain.run("people", now: Self.now).lines == ["bob, at tty1."])
  }

  @Test("name prints the user's name and changes it")
  func name() {
    var plain = loaded()
    #expect(plain.run("name", now: Self.now).lines == ["You are alice."])
    #expect(plain.run("name Al B.", now: Self.now).effects == [.write(.rename("Al B."))])
    #expect(
      plain.take(.renamed(Author(uid: "alice", name: "Al B."))) == ["Your name is Al B. now."]
    )
    #expect(plain.take(.named(Author(uid: "alice", name: "Al"))) == [])
    #expect(plain.run("name", now: Self.now).lines == ["You are Al."])
    let lines = plain.run("name a\u{7}", now: Self.now).lines
    #expect(
      lines == [
        "Not renamed: a user name cannot contain control or invisible characters; this one has U+7."
      ]
    )
  }

  @Test("Notices are announced, listed and marked as read")
  func notices() {
    var plain = PlainBlog(me: Fixture.alice)
    _ = plain.take(.feed(.recent, posts: Fixture.posts))
    // Commands from a pipe wait for the notices, too.
    #expect(!plain.isReady)
    let bob = Author(uid: "bob", name: "bob")
    let stars = NoticeEntry(id: "s", kind: .stars, post: "p11", title: "Train", stars: 3, at: nil)
    let reply = NoticeEntry(
      id: "r",
      kind: .reply,
      post: "p11",
      title: "Train",
      comment: "r",
      author: bob,
      at: 5
    )
    _ = plain.take(.notices([reply, stars]))
    _ = plain.take(.readState(ReadState(before: 10, stars: ["p11": 2])))
    #expect(plain.isReady)
    #expect(
      plain.run("notices", now: Self.now).lines
        == ["bob answered you on Train.", "New: 3 stars of others on Train."]
    )
    #expect(
      plain.take(.notice(.mention("p11", title: "Train", by: bob)))
        == ["bob named you in \"Train\"."]
    )
    let read = plain.run("read 2", now: Self.now)
    #expect(
      read.effects == [.mark(.post("p11", .read(until: Self.now))), .mark(.stars(["p11": 3]))]
    )
    #expect(!plain.isSettled)
    for _ in read.effects { _ = plain.take(.markAnswered) }
    #expect(plain.isSettled)
    #expect(plain.run("read 1", now: Self.now).effects.count == 1)
    #expect(
      plain.run("read all", now: Self.now).effects == [.mark(.allRead), .mark(.stars(["p11": 3]))]
    )
    #expect(plain.run("unread 2", now: Self.now).effects == [.mark(.post("p11", .unread))])
    let cleared = plain.run("notices clear", now: Self.now)
    #expect(cleared.lines == ["The notices are cleared."])
    #expect(cleared.effects == [.mark(.clearNotices(upTo: "r")), .mark(.stars(["p11": 3]))])
    _ = plain.take(.notices([]))
    #expect(plain.run("notices clear", now: Self.now).lines == ["No notices yet."])
    #expect(plain.run("name", now: Self.now).lines == ["You are alice."])
  }

  @Test("Invalid commands are reported")
  func mistakes() {
    var plain = loaded()
    #expect(
      plain.run("open 99", now: Self.now).lines == ["There is no post with that number. Type list."]
    )
    #expect(plain.run("delete 1", now: Self.now).lines == ["Only bob can delete it."])
    #expect(plain.run("dance", now: Self.now).lines == ["There is no command dance. Type help."])
    #expect(plain.run("comment x", now: Self.now).lines == ["Open a post first."])
    #expect(plain.run("help", now: Self.now).lines.count == PlainBlog.commands.count)
  }
}
