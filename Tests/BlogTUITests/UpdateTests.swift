import BlogModel
import Testing

@testable import BlogTUI

@Suite("Model updates")
struct UpdateTests {
  @Test("Starting follows only the first list")
  func start() {
    let size = Size(width: 80, height: 24)
    var model = Model(
      RecordingStart(me: Fixture.alice, databaseName: "local", size: size, now: 0)
    )
    #expect(model.send(.started) == [.request(.follow(.recent))])
    #expect(model.feed.phase == .loading)
  }

  @Test("A list is followed once, when it is first shown")
  func tabs() {
    var model = Fixture.loaded()
    #expect(model.type("2") == [.request(.follow(.top))])
    #expect(model.type("1") == [])
    #expect(model.type(.tab) == [])
    #expect(model.tab == .top)
    #expect(model.type(.tab) == [.request(.follow(.mine))])
    #expect(model.type("4") == [.request(.follow(.myTop))])
    #expect(model.type(.tab) == [])
    #expect(model.tab == .recent)
    #expect(model.type(.key(.backTab)) == [])
    #expect(model.tab == .myTop)
  }

  @Test("New posts above keep the selected post on its row", arguments: [0, 3, 18, 40])
  func anchor(selected: Int) {
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    for _ in 0..<selected { model.type("j") }
    let before = model.rows
    let id = model.feed.list.selection
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...70))))
    let after = model.rows
    #expect(model.feed.list.selection == id)
    #expect(Array(after[2..<21]) == Array(before[2..<21]))
    #expect(after[1].contains("▲ 10 new"))
  }

  @Test("Jumping to the top clears the indicator of new posts", arguments: [".", "gg"])
  func jump(keys: String) {
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...63))))
    #expect(model.feed.unseenCount == 3)
    model.type(.text(keys))
    #expect(model.feed.unseenCount == 0)
    #expect(model.feed.list.selection == "n63")
    #expect(!model.rows[1].contains("new"))
  }

  @Test("The user's own posts are never announced as new")
  func mineIsNotNew() {
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    var posts = Fixture.numbered(1...61)
    posts[0].uid = "alice"
    model.send(.blog(.feed(.recent, posts: posts)))
    #expect(model.feed.unseenCount == 0)
  }

  @Test("The star key toggles even before the first star is acknowledged")
  func star() {
    var model = Fixture.loaded()
    #expect(model.type("s") == [.write(.star("p12", false))])
    #expect(model.type("s") == [.write(.star("p12", true))])
    #expect(model.type("js") == [.write(.star("p11", true))])
  }

  @Test("After a star is acknowledged, the list decides again")
  func starAcknowledged() {
    var model = Fixture.loaded()
    model.type("s")
    model.send(.blog(.succeeded(.star("p12", false))))
    #expect(model.type("s") == [.write(.star("p12", false))])
  }

  @Test("Deleting without the letter takes three different keys", arguments: ["l", "\t"])
  func delete(key: String) {
    var model = Fixture.loaded()
    #expect(model.type("jd") == [])
    #expect(model.question == .delete(.deletePost("p11")))
    #expect(model.answer == .cancel)
    #expect(model.type(key == "\t" ? .tab : .text(key)) == [])
    #expect(model.answer == .delete)
    #expect(model.type(.enter) == [])
    #expect(model.send(.tick(now: Fixture.now + Deletion.delay)) == [.write(.deletePost("p11"))])
    #expect(model.question == nil)
  }

  @Test(
    "No key except the letter of the answer deletes a post, however often it is pressed",
    arguments: ["d", "n", "l", "h", "\n", "\t", " ", "\u{1B}"]
  )
  func noKeyAloneDeletes(key: String) {
    var model = Fixture.loaded()
    let events: [String: KeyEvent] = ["\n": .enter, "\t": .tab, "\u{1B}": .escape]
    let event = events[key] ?? .character(Character(key))
    model.type("jd")
    for _ in 0..<10 { model.type(.key(event)) }
    let effects = model.send(.tick(now: Fixture.now + 2 * Deletion.delay))
    #expect(!effects.contains(.write(.deletePost("p11"))))
    #expect(model.writing.deletions.isEmpty)
  }

  @Test("Every question starts on Cancel, and Enter then changes nothing")
  func cancelIsInFront() {
    var model = Fixture.opened()
    model.type("d", .enter)
    #expect(model.question == nil)
    #expect(model.openPostID == "p11")
    model.type("Gd", .enter)
    #expect(model.question == nil)
    model.type(.escape, "c", "Half", .escape)
    #expect(model.rows[22].contains("Keep this draft?  [Cancel]  y Keep  n Discard"))
    model.type(.enter)
    #expect(model.composer?.draft.title == "Half")
    model.type(.escape, "h")
    #expect(model.rows[22].contains("Keep this draft?  Cancel  y Keep  [Discard]"))
    model.type(.enter)
    #expect(model.composer == nil)
    #expect(model.session.writing.unsent.posts.isEmpty)
  }

  @Test("Any other key cancels the deletion", arguments: ["d", "n", "x", " "])
  func deleteCancelled(key: String) {
    var model = Fixture.loaded()
    #expect(model.type("jd", .text(key)) == [])
    #expect(model.question == nil)
    #expect(model.feed.list.selection == "p11")
  }

  @Test("The question stays on the same post when others arrive")
  func deleteIsAboutThePost() {
    var model = Fixture.loaded()
    model.type("jd")
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...5) + Fixture.posts)))
    #expect(model.type("y") == [])
    #expect(model.send(.tick(now: Fixture.now + Deletion.delay)) == [.write(.deletePost("p11"))])
  }

  @Test("Another user's post cannot be deleted, and the message names its owner")
  func deleteOther() {
    var model = Fixture.loaded()
    #expect(model.type("d") == [])
    #expect(model.question == nil)
    #expect(model.message?.text.string == "Only bob can delete this post.")
  }

  @Test("A message stays until the next key")
  func message() {
    var model = Fixture.loaded()
    model.type("d")
    model.send(.blog(.pendingWrites(1)))
    model.send(.tick(now: Fixture.now + 60_000))
    #expect(model.message != nil)
    model.type("j")
    #expect(model.message == nil)
  }

  @Test("q quits at once if nothing is unsent")
  func quit() {
    var model = Fixture.loaded()
    #expect(model.type("q") == [.quit])
  }

  @Test("q asks for confirmation if a write is not acknowledged")
  func quitWithPendingWrites() {
    var model = Fixture.loaded()
    model.send(.blog(.pendingWrites(1)))
    #expect(model.type("q") == [])
    #expect(model.type("x") == [])
    #expect(model.type("q") == [])
    #expect(model.type("y") == [.quit])
  }

  @Test("q quits once pending writes are acknowledged, unless another key is pressed")
  func quitOnceAcknowledged() {
    var model = Fixture.loaded()
    model.send(.blog(.pendingWrites(2)))
    #expect(model.type("q") == [])
    #expect(model.send(.blog(.pendingWrites(1))) == [])
    #expect(model.send(.blog(.pendingWrites(0))) == [.quit])
    model.send(.blog(.pendingWrites(1)))
    #expect(model.type("qx") == [])
    #expect(model.send(.blog(.pendingWrites(0))) == [])
  }

  @Test("Esc in the list never quits")
  func escape() {
    var model = Fixture.loaded()
    #expect(model.type(.escape) == [])
    #expect(model.message != nil)
  }

  @Test("A terminal that is too small says so, ignores keys and recovers")
  func tooSmall() {
    var model = Fixture.loaded()
    let before = model.rows
    model.resize(19, 6)
    #expect(model.rows.joined(separator: " ").contains("Too small: need"))
    #expect(model.type("jdy", "s") == [])
    model.resize(80, 24)
    #expect(model.rows == before)
  }

  @Test("A list that cannot be read says why, keeps its posts and can be retried")
  func failedList() {
    var model = Fixture.loaded()
    model.send(.blog(.feedFailed(.recent, reason: "permission denied")))
    #expect(model.rows[1].contains("Cannot be read: permission denied. r tries again."))
    #expect(model.rows[2].contains("The hearth is lit"))
    #expect(model.type("r") == [.request(.stopFollowing(.recent)), .request(.follow(.recent))])
    model.send(.blog(.feed(.recent, posts: Fixture.posts)))
    #expect(!model.rows[1].contains("Cannot be read"))
  }

  @Test("The countdown to the next attempt follows the clock")
  func countdown() {
    var model = Fixture.loaded()
    model.send(.blog(.connection(.offline(retryInSeconds: 9))))
    #expect(model.nextTick == .seconds(1))
    model.send(.tick(now: Fixture.now + 4_000))
    #expect(model.rows[23].contains("next try in 5 s"))
    model.send(.tick(now: Fixture.now + 12_000))
    #expect(model.rows[23].contains("trying now"))
    #expect(model.nextTick == .seconds(30))
  }

  @Test("Repeating the same connection state does not restart the countdown")
  func countdownIsNotRestarted() {
    var model = Fixture.loaded()
    model.send(.blog(.connection(.offline(retryInSeconds: 9))))
    model.send(.tick(now: Fixture.now + 4_000))
    model.send(.blog(.connection(.offline(retryInSeconds: 9))))
    #expect(model.connection.secondsUntilRetry(at: model.now) == 5)
    model.send(.tick(now: Fixture.now + 20_000))
    model.send(.blog(.connection(.offline(retryInSeconds: 9))))
    #expect(model.connection.secondsUntilRetry(at: model.now) == 9)
  }

  @Test("^L and ^Z work everywhere", arguments: ["", "/", "c", "?", "jd", "\n", "\nc"])
  func everywhere(keys: String) {
    var model = Fixture.loaded()
    for character in keys {
      model.send(.key(character == "\n" ? .enter : .character(character)))
    }
    #expect(model.type(.control("l")) == [.terminal(.redraw)])
    #expect(model.type(.control("z")) == [.terminal(.suspend)])
  }

  @Test("A click selects a post, a second one opens it, and one on a tab shows its list")
  func mouse() {
    var model = Fixture.loaded()
    #expect(model.click(4, 10) == [])
    #expect(model.feed.list.selection == "p10")
    #expect(model.click(4, 10) == [.request(.open("p10"))])
    #expect(model.click(0, 24) == [.request(.close("p10")), .request(.follow(.top))])
  }

  @Test("Releasing the mouse button answers no question and hides no message")
  func release() {
    let release = Typed.key(
      .mouse(MouseEvent(kind: .release, position: Position(row: 3, column: 3)))
    )
    var model = Fixture.loaded()
    model.type("d", release)
    #expect(model.message != nil)
    model.type("jd", release)
    #expect(model.question != nil)
  }
}
