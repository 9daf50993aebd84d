import BlogModel
import Testing

@testable import BlogTUI

@Suite("Connection and delivery state")
struct TruthTests {
  private func status(_ model: Model) -> String { model.rows.last ?? "" }

  @Test("The status bar shows the round trip, last event, user count and pending writes")
  func bar() {
    var model = Fixture.loaded(Size(width: 132, height: 43))
    model.send(.blog(.roundTrip(milliseconds: 12)))
    model.send(.blog(.pendingWrites(2)))
    // Somebody at two terminals is one person.
    let people = ["alice", "bob", "alice"].enumerated().map { number, name in
      let person = Author(uid: name, name: name)
      return Presence(id: "t\(number)", person: person, terminal: "pts/1", since: nil)
    }
    model.send(.blog(.people(people)))
    model.send(.tick(now: Fixture.now + 180_000))
    #expect(
      status(model).hasSuffix(
        "2 here  last event 3m ago  12 ms  2 not acknowledged  ● online"
      )
    )
    model.send(.blog(.connection(.offline(retryInSeconds: 4))))
    #expect(status(model).contains("○ offline, next try in 4 s"))
    #expect(!status(model).contains("12 ms"))
  }

  @Test("A star shows its local, sent and stored states in turn")
  func delivery() {
    var model = Fixture.loaded()
    model.send(.blog(.connection(.offline(retryInSeconds: nil))))
    model.type("s", "j")
    #expect(model.rows[2].hasPrefix(" ·The hearth"))
    model.send(.blog(.connection(.online)))
    #expect(model.rows[2].hasPrefix(" ◌The hearth"))
    model.send(.blog(.succeeded(.star("p12", false))))
    #expect(model.rows[2].hasPrefix(" ✓The hearth"))
    #expect(model.nextTick == .milliseconds(5_000))
    model.send(.tick(now: Fixture.now + 5_000))
    #expect(model.rows[2].hasPrefix("  The hearth"))
  }

  @Test("A refused write keeps its mark until it is retried")
  func refused() {
    var model = Fixture.loaded()
    model.type("s", "j")
    model.send(.blog(.failed(.star("p12", false), reason: "permission denied")))
    model.send(.tick(now: Fixture.now + 600_000))
    #expect(model.rows[2].hasPrefix(" ✗The hearth"))
    model.type("k", "s", "j")
    #expect(model.rows[2].hasPrefix(" ◌The hearth"))
  }

  @Test("All marks have distinct ASCII forms")
  func ascii() {
    let all: [Delivery] = [.local, .sent, .acknowledged(at: 0), .refused]
    let signs = all.map { $0.sign(.ascii).string } + [GlyphSet.ascii.bullet.string, " "]
    #expect(Set(signs).count == signs.count)
    #expect(signs.allSatisfy { $0.utf8.count == 1 })
  }

  @Test("A post pending since the last run keeps its mark until it is stored")
  func restored() {
    var model = Fixture.loaded()
    model.send(.blog(.pendingWrites(1)))
    model.send(.blog(.extent(.recent, FeedExtent(pending: ["p11"]))))
    #expect(model.rows[3].hasPrefix(" ◌Notes"))
    model.send(.blog(.pendingWrites(0)))
    #expect(model.rows[3].hasPrefix("  Notes"))
  }

  @Test("Typing is announced once per interval and ends when the comment is sent")
  func typing() {
    var model = Fixture.opened()
    #expect(model.type("c", "H") == [.request(.typing("p11", true))])
    #expect(model.type("ello") == [])
    model.send(.tick(now: Fixture.now + 10_000))
    #expect(model.type("!") == [.request(.typing("p11", true))])
    #expect(
      model.type(.enter) == [
        .request(.typing("p11", false)), .write(.comment("p11", text: "Hello!")),
      ]
    )
    #expect(model.type("c", "x") == [.request(.typing("p11", true))])
    #expect(model.type(.escape) == [.request(.typing("p11", false))])
    model.settings.choose(.flag(false), for: .sendTyping, from: .session)
    #expect(model.type("c", "y") == [])
  }

  @Test("A typing user is shown until they stop or time out")
  func typists() {
    var model = Fixture.opened()
    let bob = Typist(person: Author(uid: "bob", name: "bob"), at: Fixture.now)
    model.send(.blog(.typing("p11", [bob])))
    #expect(model.rows.contains { $0.contains(" bob is writing… ") })
    #expect(model.nextTick == .milliseconds(30_000))
    model.send(.tick(now: Fixture.now + 30_000))
    #expect(!model.rows.contains { $0.contains("is writing") })
  }

  @Test("Notices ring if enabled, at a limited rate and not for the open post")
  func notices() {
    var model = Fixture.opened()
    let bob = Author(uid: "bob", name: "bob")
    let comment = Notice.comment("p07", title: "Sourdough", by: bob)
    #expect(model.send(.blog(.notice(comment))) == [])
    model.settings.choose(.flag(true), for: .notifications, from: .session)
    let text = "bob commented on \"Sourdough\"."
    #expect(model.send(.blog(.notice(comment))) == [.terminal(.notify(text))])
    #expect(model.send(.blog(.notice(comment))) == [])
    model.send(.tick(now: Fixture.now + 5_000))
    #expect(model.send(.blog(.notice(.comment("p11", title: "T", by: bob)))) == [])
    #expect(
      model.send(.blog(.notice(.star("p07", title: "Sourdough", count: 2))))
        == [.terminal(.notify("\"Sourdough\" has 2 stars now."))]
    )
  }

  @Test("The status bar shows a refused sign-in, as space allows, until it is resolved")
  func refusedSignIn() {
    let reason = "signing in was refused: the account is disabled, and nothing can be sent"
    for (width, text) in [
      (80, "signing in was refused: the account"),
      (120, "signing in was refused: the account is disabled"), (40, "offline"), (20, "offline"),
    ] {
      var model = Fixture.loaded(Size(width: width, height: 24))
      model.send(.blog(.connection(.offline(retryInSeconds: nil))))
      model.send(.blog(.connectionProblem(ConnectionProblem(reason: reason))))
      let status = model.rows[23]
      #expect(status.contains(text), "\(width) columns")
      #expect(status.contains("alice"))
      #expect(!status.contains("online"))
      // The line below the tabs has more room for it.
      if width >= 80 { #expect(model.rows[1].contains("Offline: signing in was refused:")) }
      model.send(.blog(.connectionProblem(nil)))
      model.send(.blog(.connection(.online)))
      #expect(model.rows[23].contains("online"))
      #expect(!model.rows[1].contains("refused"))
    }
  }

  @Test("An unresponsive server is shown with a counter and counts as offline after ten seconds")
  func silence() {
    for (width, text) in [
      (20, "◐ no answer for 8 s"), (40, "alice · local      ◐ no answer for 8 s"),
      (80, "◐ no answer for 8 s"), (120, "◐ no answer for 8 s"),
    ] {
      var model = Fixture.loaded(Size(width: width, height: 24))
      model.send(.blog(.roundTrip(milliseconds: 12)))
      let silence = Silence(since: Fixture.now - 3_000, address: Fixture.address)
      model.send(.blog(.silence(silence)))
      #expect(status(model).contains("no answer for 3 s"), "\(width) columns")
      #expect(!status(model).contains("12 ms"))
      #expect(!status(model).contains("online"))
      #expect(model.nextTick == .seconds(1))
      model.send(.tick(now: Fixture.now + 5_000))
      #expect(status(model).hasSuffix(text), "\(width): \(status(model))")
      model.send(.tick(now: Fixture.now + 7_000))
      #expect(status(model).contains("○ offline"), "\(width): \(status(model))")
      if width == 120 {
        #expect(status(model).hasSuffix("offline: no answer from blog.example.org:9000 for 10 s"))
      }
      model.send(.blog(.silence(nil)))
      #expect(status(model).hasSuffix("● online"))
    }
  }

  @Test(
    "A narrow status bar shows the cause of an outage first and a wide one also the address"
  )
  func causes() {
    for (width, text) in [
      (120, "○ cannot connect to blog.example.org:9000: connection refused; next try in 4 s"),
      (80, "○ connection refused, blog.example.org:9000; next try in 4 s"),
      (60, "○ connection refused; next try in 4 s"), (40, "○ connection refused, 4s"),
      (20, "○ offline 4s"),
    ] {
      var model = Fixture.loaded(Size(width: width, height: 24))
      model.send(.blog(.connectionProblem(Fixture.refused)))
      model.send(.blog(.connection(.offline(retryInSeconds: 4))))
      #expect(status(model).hasSuffix(text), "\(width): \(status(model))")
    }
  }

  @Test("^R reconnects at once instead of waiting for the next attempt or an answer")
  func connectingAtOnce() {
    var model = Fixture.loaded(Size(width: 80, height: 24))
    #expect(model.type(.control("r")) == [])
    #expect(model.rows[22].contains("Online already"))
    let anew: [Effect] = [.environment(.network(false)), .environment(.network(true))]
    model.send(.blog(.silence(Silence(since: Fixture.now - 8_000, address: Fixture.address))))
    #expect(model.type(.control("r")) == anew)
    model.send(.blog(.silence(nil)))
    model.send(.blog(.connectionProblem(Fixture.refused)))
    model.send(.blog(.connection(.offline(retryInSeconds: 28))))
    model.type("j")
    #expect(model.rows[22].contains("^R try now"))
    #expect(model.type(.control("r")) == anew)
    // It also works while text is being typed, and while an attempt gets no response.
    model.type("c", "half a title")
    model.send(.blog(.connection(.connecting)))
    #expect(model.type(.control("r")) == anew)
    var other = Fixture.loaded()
    other.type(":net off", .enter)
    other.send(.blog(.connection(.offline(retryInSeconds: nil))))
    #expect(other.type(.control("r")) == [])
    #expect(other.rows[22].contains(":net on connects again"))
    // At the start there is no wait to cut short.
    var first = Fixture.started(Size(width: 80, height: 24))
    #expect(first.type(.control("r")) == [])
    #expect(first.rows[22].contains("Connecting already"))
  }

  @Test("A terminal started against a hanging server says what it waits for")
  func waiting() {
    var model = Fixture.started(Size(width: 80, height: 24))
    model.send(.blog(.silence(Silence(since: Fixture.now - 8_000, address: Fixture.address))))
    #expect(
      model.rows.contains {
        $0.contains("Waiting for an answer from blog.example.org:9000: 8 s so far.")
      }
    )
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
