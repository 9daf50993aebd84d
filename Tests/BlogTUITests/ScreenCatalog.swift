import BlogModel

@testable import BlogTUI

/// Every screen and dialog of the program, by name, for a terminal of any size.
enum ScreenCatalog {
  /// Draws a screen.
  typealias Painting = @Sendable (Size, GlyphSet) -> Screen

  /// All screens, in the order in which a user meets them.
  static let all: [(name: String, paint: Painting)] =
    signingIn + lists + writing + posts + dialogs + tools

  static func named(_ name: String) -> Painting? { all.first { $0.name == name }?.paint }

  /// A screen of the blog that results from some events.
  private static func screen(
    _ name: String,
    from start: @escaping @Sendable (Size, GlyphSet) -> Model,
    _ events: @escaping @Sendable (inout Model) -> Void
  ) -> (name: String, paint: Painting) {
    (
      name,
      { size, glyphs in
        var model = start(size, glyphs)
        events(&model)
        return view(model)
      }
    )
  }

  /// A screen that results from events on a list of posts.
  private static func listed(
    _ name: String,
    _ events: @escaping @Sendable (inout Model) -> Void
  ) -> (name: String, paint: Painting) {
    screen(name, from: Fixture.loaded, events)
  }

  // MARK: Lists

  private static let lists: [(name: String, paint: Painting)] = [
    screen("loading", from: Fixture.started) { _ in },
    listed("recent") { $0.type("j") },
    listed("top") { model in
      model.type("2")
      let posts = Fixture.posts.sorted { $0.starCount > $1.starCount }
      model.send(.blog(.feed(.top, posts: posts)))
    },
    listed("mine") { model in
      model.type("3")
      model.send(.blog(.feed(.mine, posts: Fixture.posts.filter { $0.uid == "alice" })))
    },
    listed("my-top") { model in
      model.type("4")
      let mine = Fixture.posts.filter { $0.uid == "alice" }
      model.send(.blog(.feed(.myTop, posts: mine.sorted { $0.starCount > $1.starCount })))
    },
    listed("following") { model in
      model.type("5")
      model.send(.blog(.ownLists(OwnLists(following: ["bob"]))))
      model.send(.blog(.feed(.following, posts: Array(Fixture.posts.prefix(3)))))
    },
    screen("author", from: busy) { model in
      model.type("a")
      let kind = FeedKind.author(uid: "bob")
      model.send(.blog(.feed(kind, posts: Fixture.posts.filter { $0.uid == "bob" })))
      model.type("F", "t")
    },
    screen("empty", from: Fixture.started) { model in
      model.send(.blog(.connection(.online)))
      model.send(.blog(.feed(.recent, posts: [])))
    },
    listed("empty-mine") { model in
      model.type("3")
      model.send(.blog(.feed(.mine, posts: [])))
    },
    listed("unreadable") {
      $0.send(.blog(.feedFailed(.recent, reason: "permission denied at /posts")))
    },
    listed("unseen") { model in
      model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...90))))
      model.type("jj")
      model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...93))))
    },
    screen("signs", from: busy) { _ in },
    screen("density-normal", from: busy) { $0.type("j", "v") },
    screen("density-full", from: busy) { $0.type("j", "v", "v") },
    listed("excerpts") { $0.send(.blog(.feed(.recent, posts: marked))) },
    listed("excerpts-normal") { model in
      model.send(.blog(.feed(.recent, posts: marked)))
      model.type("v")
    },
    listed("excerpts-full") { model in
      model.send(.blog(.feed(.recent, posts: marked)))
      model.type("v", "v")
    },
    listed("offline") { model in
      model.send(.blog(.connection(.offline(retryInSeconds: 7))))
      model.send(.blog(.pendingWrites(2)))
      model.send(.tick(now: Fixture.now + 3_000))
    },
    listed("sign-in-lost") { model in
      let reason = "signing in was refused: the account is gone"
      model.send(.blog(.connectionProblem(ConnectionProblem(reason: reason))))
      model.send(.blog(.connection(.offline(retryInSeconds: nil))))
    },
    listed("refused") { model in
      model.send(.blog(.connectionProblem(Fixture.refused)))
      model.send(.blog(.connection(.offline(retryInSeconds: 4))))
    },
    listed("silent") { model in
      model.send(.blog(.silence(Silence(since: Fixture.now - 8_000, address: Fixture.address))))
    },
    screen("waiting", from: Fixture.started) { model in
      model.send(.blog(.silence(Silence(since: Fixture.now - 8_000, address: Fixture.address))))
    },
    listed("search") { $0.type("/train") },
    listed("filtered") { $0.type("/bob", .enter) },
    listed("nothing-found") { $0.type("/author:zoe stars>5", .enter) },
  ]

  // MARK: Posts

  private static let posts: [(name: String, paint: Painting)] = [
    screen("post", from: Fixture.opened) { _ in },
    listed("post-loading") { $0.type("j", .enter) },
    screen("comment", from: Fixture.opened) { $0.type("Gc", "Nobody waits for me, though.") },
    screen("edit-comment", from: Fixture.opened) { $0.type("G", "e") },
    screen("deleted", from: Fixture.opened) { model in
      model.type("c", "Half a sentence", .escape)
      model.send(.blog(.post("p11", nil)))
    },
    screen("unread", from: busy) { model in
      let state = ReadState(before: 0, marks: ["p11": .read(lastComment: "c1")])
      model.send(.blog(.readState(state)))
      open(&model)
      let bob = Author(uid: "bob", name: "bob")
      model.send(.blog(.typing("p11", [Typist(person: bob, at: Fixture.now)])))
      model.type("U")
    },
    screen("answers", from: answered) { $0.type("G", "k", "k", "z", "r", "Yes") },
    screen("links", from: Fixture.loaded) { model in
      var post = Fixture.posts[0]
      post.body = "See https://example.org/a;b$(c) and https://example.org/" + repeated("long/", 40)
      model.send(.blog(.feed(.recent, posts: [post])))
      model.type("o")
    },
  ]

  // MARK: Writing

  private static let writing: [(name: String, paint: Painting)] = [
    listed("compose") { $0.type("c") },
    listed("compose-refused") { $0.type("c", "A title without a text", .control("s")) },
    listed("compose-long") { model in
      model.type("c", .paste("A title that is long enough to be scrolled on narrow screens"))
      model.type(.tab, .paste(Fixture.longBody))
    },
    listed("edit-post") { $0.type("j", "e") },
  ]

  // MARK: Questions and messages

  private static let dialogs: [(name: String, paint: Painting)] = [
    listed("delete-question") { $0.type("jd") },
    listed("delete-answered") { $0.type("jd", "l") },
    listed("draft-question") { $0.type("c", "A title", .escape) },
    listed("quit-question") { model in
      model.send(.blog(.pendingWrites(2)))
      model.type("c", "A title", .escape, "y", "q")
    },
    screen("deletion", from: busy) { $0.type("j", "dy") },
    listed("refused-write") { model in
      let action = BlogAction.post("x", title: "My news", body: "Text")
      model.send(.blog(.failed(action, reason: "permission denied at /posts/x")))
    },
  ]

  // MARK: Tools

  private static let tools: [(name: String, paint: Painting)] = [
    screen("tag", from: tagged) { model in
      model.send(.blog(.ownLists(OwnLists(following: ["bob"]))))
      model.type("j", "#")
      model.send(.blog(.feed(.tag("tea"), posts: Array(Fixture.posts.prefix(2)))))
    },
    screen("tags", from: tagged) { $0.type("#") },
    screen("markup", from: Fixture.loaded) { model in
      var post = Fixture.posts[0]
      post.body = markup
      model.send(.blog(.feed(.recent, posts: [post])))
      model.type(.enter)
      model.send(.blog(.post(post.id, post)))
      model.send(.blog(.comments(post.id, [])))
    },
    screen("notices", from: Fixture.noticed) { model in
      model.type(.key(.function(3)), "j")
    },
    listed("no-notices") { model in
      model.send(.blog(.notices([])))
      model.type(.key(.function(3)))
    },
    screen("notice-mark", from: Fixture.noticed) { _ in },
    screen("drafts", from: drafted) { $0.type("C", "jj") },
    listed("help") { $0.type("?") },
    listed("help-all") { $0.type("?", .enter) },
    screen("help-of-a-post", from: Fixture.opened) { $0.type("?") },
    listed("help-search") { $0.type("?", "/post") },
    listed("messages") { model in
      let action = BlogAction.post("x", title: "My news", body: "Text")
      model.send(.blog(.failed(action, reason: "permission denied at /posts/x")))
      model.send(.failed("There is no file \"nowhere\"."))
      model.type(.key(.function(4)))
    },
    listed("name") { $0.send(.blog(.unnamed)) },
    screen("people", from: busy) { model in
      model.type("w")
      model.send(
        .blog(
          .reading([
            ReadingPlace(id: "alice", post: nil, title: nil),
            ReadingPlace(id: "bob", post: "p11", title: "Notes from a slow train"),
          ])
        )
      )
    },
    listed("palette") { $0.type(.control("p")) },
    listed("palette-filtered") { $0.type(.control("p"), "sta") },
    listed("command-line") { $0.type(":th") },
    listed("command-completion") { $0.type(":", .tab, .tab) },
    listed("settings") { $0.type(.key(.function(2))) },
    listed("setting") { $0.type(.key(.function(2)), "theme", .enter) },
    listed("inspector") { watch(&$0) },
    listed("inspector-paused") { model in
      watch(&model)
      model.type("f", "p")
      model.send(.wire(wire))
    },
    listed("inspector-detail") { model in
      watch(&model)
      model.type("gg", "jjjjjj", .enter)
    },
    listed("inspector-tries") { model in
      watch(&model)
      model.type("k", .enter)
    },
  ]

  // MARK: Signing in

  private static let signingIn: [(name: String, paint: Painting)] = [
    ("sign-in-choices", { signIn(["ann", "bob"], $0, $1).view() }),
    (
      "sign-up",
      { size, glyphs in
        var form = signIn([], size, glyphs)
        begin(.signUp, &form)
        type(["Ann", "ann@example.org", "secret"], into: &form)
        return form.view()
      }
    ),
    (
      "sign-in-refused",
      { size, glyphs in
        var form = signIn([], size, glyphs)
        begin(.signIn, &form)
        type(["ann@example.org", "wrong"], into: &form)
        _ = form.update(.key(.enter))
        _ = form.update(.failed("The email address or the password is wrong."))
        return form.view()
      }
    ),
  ]

  private static func signIn(_ accounts: [String], _ size: Size, _ glyphs: GlyphSet) -> SignIn {
    SignIn(
      databaseName: "team",
      accounts: accounts.map { SignIn.Account(uid: $0, title: "\($0), \($0)@example.org") },
      allowsNobody: true,
      size: size,
      glyphs: glyphs
    )
  }

  private static func begin(_ choice: SignIn.Choice, _ form: inout SignIn) {
    _ = form.list.select(choice)
    _ = form.update(.key(.enter))
  }

  private static func type(_ fields: [String], into form: inout SignIn) {
    for (number, text) in fields.enumerated() {
      if number > 0 { _ = form.update(.key(.tab)) }
      for character in text { _ = form.update(.key(.character(character))) }
    }
  }
}

/// A text with every kind of light markup, and with text that only resembles it.
private let markup = """
  A *very* good and **strong** loaf with `flour`, see [the book](https://example.org/x).

  # Heading of @bob
  - one thing that is long enough to be wrapped on a terminal of eighty columns, or on any narrower
    1. numbered
  > a quote
  ```
  let x = **code**
  ```
  ```swift
  let loaves = 2  // a day
  ```
  | flour | grams |
  |---|--:|
  | rye | 500 |
  | spelt, coarsely ground | 50 |
  ---
  snake_case_word, 2 * 3, \u{1B}]8;;https://evil.example\u{7}[bank.com](https://evil.example/) #tea
  """

/// Posts whose texts have light markup, and one with hostile text.
private let marked: [Post] = {
  let texts = [
    markup, "[here](https://example.org/a/very/long/address) is **all** of it",
    "# News\n- first\n- second\n\n> as they say",
    "\u{1B}]8;;https://evil.example\u{7}[bank.com](https://evil.example/) \u{202E}**evil**\u{9B}31m",
  ]
  return zip(Fixture.posts, texts).map { post, text in
    var post = post
    post.body = text
    return post
  }
}()

/// An open post with answers to comments.
private func answered(_ size: Size, _ glyphs: GlyphSet) -> Model {
  AnswersTests.model(size: size, glyphs: glyphs)
}

// MARK: - The models that screens start from

/// Unsent posts and comments.
private func drafted(_ size: Size, _ glyphs: GlyphSet) -> Model {
  var model = Fixture.loaded(size, glyphs: glyphs)
  model.session.writing.unsent.posts = [
    Draft(title: "One", body: "The first"), Draft(title: "", body: "No title \u{1B}[2J"),
  ]
  model.session.writing.unsent.comments = ["p11": ["Half a sentence", "Another\nline"]]
  return model
}

/// Posts with tags.
private func tagged(_ size: Size, _ glyphs: GlyphSet) -> Model {
  var model = Fixture.loaded(size, glyphs: glyphs)
  var posts = Fixture.posts
  posts[0].body = "For #tea and #Bread"
  posts[1].title = "A #tea of mine"
  model.send(.blog(.feed(.recent, posts: posts)))
  return model
}

extension ScreenCatalog {
  private static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  /// A model with unread posts, people, and writes in all states.
  static func busy(_ size: Size, glyphs: GlyphSet = .unicode) -> Model {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 100)))))
    model.send(.blog(.roundTrip(milliseconds: 3)))
    let people = ["alice", "bob"].map { name in
      let person = Author(uid: name, name: name)
      let since = Fixture.ago(minutes: 5)
      return Presence(id: name, person: person, terminal: "pts/3 on hearth", since: since)
    }
    model.send(.blog(.people(people)))
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.latestComments("p12", Array(Fixture.comments.prefix(1)))))
    model.send(.blog(.latestComments("p11", Fixture.comments)))
    model.writing.begin("p08", isOnline: false)
    model.writing.begin("p07", isOnline: true)
    model.writing.end(.star("p06", true), succeeded: true, at: Fixture.now)
    model.writing.end(.star("p05", true), succeeded: false, at: Fixture.now)
    return model
  }

  /// Opens one of my posts, which has three comments.
  private static func open(_ model: inout Model) {
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", Fixture.comments)))
  }

  private static func watch(_ model: inout Model) {
    model.type(.key(.function(12)))
    model.send(.wire(wire))
  }

  /// Traffic on the wire, with at least one event of each kind.
  private static let wire: [WireEvent] = [
    event(0, .connection, "connected"),
    event(12, .listener, "observe /posts", change: .begun("1")),
    event(
      20,
      .write,
      "update /",
      "/posts/p11/starCount: {\".sv\":{\"increment\":1}}\n/posts/p11/stars/alice: true",
      change: .begun("2")
    ),
    event(
      21,
      .sent,
      "{\"t\":\"d\",\"d\":{\"r\":2,\"a\":\"m\",\"b\":{\"p\":\"/\",\"d\":{\"posts/p11/starCount\":13}}}}"
    ),
    event(24, .received, "{\"t\":\"d\",\"d\":{\"r\":2,\"b\":{\"s\":\"ok\",\"d\":\"\"}}}"),
    event(24, .write, "update / answered after 4 ms: ok", change: .ended("2")),
    event(
      30,
      .received,
      "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"posts/p11\",\"d\":{\"author\":\"alice\",\"body\":\""
        + repeated("and so on ", 20)
        + "\",\"starCount\":13,\"stars\":{\"alice\":true,\"bob\":true}}}}}"
    ),
    event(31, .event, "child_changed /posts p11", "value: {\"starCount\":13}"),
    event(40, .transaction, "transaction /posts/p08 begins", group: "3"),
    attempt(40, 12, 1),
    attempt(48, 13, 2),
    event(52, .transaction, "transaction committed after 2 tries in 12 ms", group: "3"),
  ]

  private static func event(
    _ time: Int64,
    _ kind: WireEvent.Kind,
    _ title: String,
    _ detail: String = "",
    change: WireEvent.Change? = nil,
    group: String? = nil
  ) -> WireEvent {
    WireEvent(
      time: Fixture.now + time,
      kind: kind,
      title: title,
      detail: detail,
      change: change,
      group: group,
      size: [.sent, .received].contains(kind) ? title.utf8.count : nil
    )
  }

  /// An attempt of a transaction that adds one to this number of stars.
  private static func attempt(_ time: Int64, _ stars: Int, _ number: Int) -> WireEvent {
    func post(_ count: Int, _ stars: String) -> String {
      "{\"author\":\"bob\",\"body\":\"Thank you all.\",\"starCount\":\(count),\"stars\":{\(stars)}}"
    }
    let read = post(stars, "\"bob\":true")
    let proposed = post(stars + 1, "\"alice\":true,\"bob\":true")
    let detail = "read: \(read)\nproposed: \(proposed)"
    return event(time, .transaction, "try \(number) at /posts/p08", detail, group: "3")
  }
}
