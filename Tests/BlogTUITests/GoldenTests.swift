import BlogModel
import TerminalUI
import Testing

@testable import BlogTUI

@Suite("Screens look as they are kept in Goldens")
struct GoldenTests {
  static let sizes = [
    Size(width: 80, height: 24), Size(width: 40, height: 10), Size(width: 132, height: 43),
    Size(width: 20, height: 6),
  ]

  @Test("The newest posts", arguments: sizes)
  func recent(size: Size) {
    var model = Fixture.loaded(size)
    model.type("j")
    Golden.check(view(model), "recent")
  }

  @Test("The posts with the most stars", arguments: sizes)
  func top(size: Size) {
    var model = Fixture.loaded(size)
    model.type("2")
    let posts = Fixture.posts.sorted { $0.starCount > $1.starCount }
    model.send(.blog(.feed(.top, posts: posts)))
    Golden.check(view(model), "top")
  }

  @Test("New posts above what is in view", arguments: sizes)
  func unseen(size: Size) {
    var model = Fixture.loaded(size)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    model.type("jj")
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...63))))
    Golden.check(view(model), "unseen")
  }

  @Test("A list without posts", arguments: sizes)
  func empty(size: Size) {
    var model = Fixture.started(size)
    model.send(.blog(.connection(.online)))
    model.send(.blog(.feed(.recent, posts: [])))
    Golden.check(view(model), "empty")
  }

  @Test("Before the first answer", arguments: sizes)
  func loading(size: Size) {
    Golden.check(view(Fixture.started(size)), "loading")
  }

  @Test("A post with comments", arguments: sizes)
  func post(size: Size) {
    Golden.check(view(Fixture.opened(size)), "post")
  }

  @Test("A post while the last comment is selected and another is written", arguments: sizes)
  func comment(size: Size) {
    var model = Fixture.opened(size)
    model.type("Gc", "Nobody waits for me, though.")
    Golden.check(view(model), "comment")
  }

  @Test("A post that was deleted while it was open", arguments: sizes)
  func deleted(size: Size) {
    var model = Fixture.opened(size)
    model.type("c", "Half a sentence", .escape)
    model.send(.blog(.post("p11", nil)))
    Golden.check(view(model), "deleted")
  }

  @Test("The form with what is wrong", arguments: sizes)
  func compose(size: Size) {
    var model = Fixture.loaded(size)
    model.type("c", "A title without a text", .control("s"))
    Golden.check(view(model), "compose")
  }

  @Test("All keys", arguments: sizes)
  func help(size: Size) {
    var model = Fixture.loaded(size)
    model.type("?")
    Golden.check(view(model), "help")
  }

  @Test("The question before a post is deleted", arguments: sizes)
  func delete(size: Size) {
    var model = Fixture.loaded(size)
    model.type("jd")
    Golden.check(view(model), "delete")
  }

  @Test("Offline with writes that wait", arguments: sizes)
  func offline(size: Size) {
    var model = Fixture.loaded(size)
    model.send(.blog(.connection(.offline(retryInSeconds: 7))))
    model.send(.blog(.pendingWrites(2)))
    model.send(.tick(now: Fixture.now + 3_000))
    Golden.check(view(model), "offline")
  }

  @Test("A search while it is typed", arguments: sizes)
  func search(size: Size) {
    var model = Fixture.loaded(size)
    model.type("/train")
    Golden.check(view(model), "search")
  }

  @Test("A search that is kept", arguments: sizes)
  func filtered(size: Size) {
    var model = Fixture.loaded(size)
    model.type("/bob", .enter)
    Golden.check(view(model), "filtered")
  }

  @Test("An error that says what, why and what to do", arguments: sizes)
  func failure(size: Size) {
    var model = Fixture.loaded(size)
    let action = BlogAction.post("x", title: "My news", body: "Text")
    model.send(.blog(.failed(action, reason: "permission denied")))
    Golden.check(view(model), "failure")
  }

  @Test("A terminal that is too small")
  func tooSmall() {
    Golden.check(view(Fixture.loaded(Size(width: 19, height: 6))), "toosmall")
    Golden.check(view(Fixture.loaded(Size(width: 80, height: 5))), "toosmall")
  }

  @Test("A terminal without Unicode")
  func ascii() {
    let size = Size(width: 80, height: 24)
    var list = Fixture.loaded(size, glyphs: .ascii)
    list.type("j")
    Golden.check(view(list), "recent", isASCII: true)
    Golden.check(view(Fixture.opened(size, glyphs: .ascii)), "post", isASCII: true)
  }
}
