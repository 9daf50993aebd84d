import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("Line mode")
struct PlainBlogTests {
  private static let now = Fixture.now

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
    // As on the screens, nothing is new before it is known what was read.
    #expect(!plain.run("notices", now: Self.now).lines.contains { $0.hasPrefix("New") })
    #expect(plain.run("search unread", now: Self.now).lines == ["No post matches."])
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

  @Test("Where nothing is stored, no write is said to be kept")
  func unkept() {
    var plain = PlainBlog(me: Fixture.alice, keepsWrites: false)
    _ = plain.take(.feed(.recent, posts: Fixture.posts))
    _ = plain.take(.connection(.offline(retryInSeconds: 1)))
    _ = plain.take(.connectionProblem(ConnectionProblem(reason: "no route", isPermanent: false)))
    let answer = plain.run("star 2", now: Self.now)
    #expect(answer.lines == ["Unless hearth ends before, it is sent later."])
  }

  @Test("help lists every command")
  func help() {
    var plain = PlainBlog(me: Fixture.alice)
    _ = plain.take(.feed(.recent, posts: Fixture.posts))
    #expect(plain.run("help", now: Self.now).lines.count == PlainBlog.commands.count)
  }
}
