@testable import BlogModel
@testable import BlogTUI

/// A small blog with fixed people, posts and times.
enum Fixture {
  static let now: Int64 = 1_700_000_000_000
  static let alice = Author(uid: "alice", name: "alice")
  static let address = "blog.example.org:9000"
  static let refused = ConnectionProblem(
    reason: "cannot connect to \(address): connection refused",
    cause: "connection refused",
    address: address,
    isPermanent: false
  )

  static func ago(minutes: Int64) -> Int64 { now - minutes * 60_000 }

  static let posts: [Post] = [
    Post(
      id: "p12",
      uid: "bob",
      author: "bob",
      title: "The hearth is lit",
      body: "Everything you see here is live. Open a second terminal and star this.",
      starCount: 3,
      stars: ["alice", "carol", "dave"],
      createdAt: ago(minutes: 0)
    ),
    Post(
      id: "p11",
      uid: "alice",
      author: "alice",
      title: "Notes from a slow train",
      body: longBody,
      starCount: 12,
      stars: ["bob", "carol"],
      createdAt: ago(minutes: 3)
    ),
    Post(
      id: "p10",
      uid: "mei",
      author: "美玲",
      title: "漢字と絵文字 🎉 line up",
      body: "全角の文字も、絵文字も、桁がずれません。",
      starCount: 7,
      stars: ["alice"],
      createdAt: ago(minutes: 14)
    ),
    Post(
      id: "p09",
      uid: "carol",
      author: "Carol Danvers of Boston",
      title: "A title that goes on for so long that no terminal anyone owns could ever show it",
      body: "Short text.",
      starCount: 0,
      createdAt: ago(minutes: 61)
    ),
    Post(
      id: "p08",
      uid: "mallory",
      author: "bob\u{202E}ecila",
      title: "\u{1B}[2JOwned\rbob",
      body: "\u{1B}]0;title\u{7}first\nsecond\u{8}\u{8}",
      starCount: 1,
      stars: ["mallory"],
      createdAt: ago(minutes: 125)
    ),
    Post(
      id: "p07",
      uid: "alice",
      author: "alice",
      title: "Sourdough, day nine",
      body: "It rose.",
      starCount: 41,
      stars: ["alice", "bob"],
      createdAt: ago(minutes: 1_500)
    ),
    Post(
      id: "p06",
      uid: "dave",
      author: "dave",
      title: "שלום עולם",
      body: "Right to left.",
      starCount: 2,
      createdAt: ago(minutes: 4_400)
    ),
    Post(
      id: "p05",
      uid: "erin",
      author: "erin",
      title: "Ten thousand stars",
      body: "Thank you all!",
      starCount: 12_345,
      createdAt: ago(minutes: 60_000)
    ),
    Post(
      id: "p04",
      uid: "bob",
      author: "bob",
      title: "Old but gold",
      body: "From another year.",
      starCount: 5,
      createdAt: ago(minutes: 800_000)
    ),
  ]

  static let longBody = """
    The train left late and nobody minded. Two seats away a man was reading a newspaper from last \
    week, page by page, as if it had just been printed.

    I made a list:

    \t1. tea
    \t2. the window
    \t3. nothing else

    By the time we arrived the light was gone, and the platform was full of people who had been \
    waiting for somebody. It is a good thing, to be waited for.
    """

  static let comments: [BlogComment] = [
    BlogComment(
      id: "c1",
      uid: "bob",
      author: "bob",
      text: "I was on that train!",
      createdAt: ago(minutes: 2)
    ),
    BlogComment(
      id: "c2",
      uid: "mei",
      author: "美玲",
      text: "いい話ですね。 This one is long enough to be wrapped on most terminals, I should think, "
        + "because it simply does not stop.",
      createdAt: ago(minutes: 1)
    ),
    BlogComment(
      id: "c3",
      uid: "alice",
      author: "alice",
      text: "Thank you both.",
      createdAt: now
    ),
  ]

  static let notices: [NoticeEntry] = [
    NoticeEntry(
      id: "c2",
      kind: .comment,
      post: "p11",
      title: "Notes from a slow train",
      comment: "c2",
      author: Author(uid: "mei", name: "美玲"),
      text: "いい話ですね。",
      at: Fixture.ago(minutes: 1)
    ),
    NoticeEntry(
      id: "c1",
      kind: .reply,
      post: "p11",
      title: "Notes from a slow train",
      comment: "c1",
      author: Author(uid: "bob", name: "bob"),
      text: "I was on that train!\nAnd you?",
      at: Fixture.ago(minutes: 2)
    ),
    NoticeEntry(
      id: "p12",
      kind: .mention,
      post: "p12",
      title: "The hearth is lit",
      author: Author(uid: "bob", name: "bob"),
      text: "Everything you see here is live.",
      at: Fixture.ago(minutes: 20)
    ),
    NoticeEntry(
      id: "stars p07",
      kind: .stars,
      post: "p07",
      title: "\u{1B}[2JOwned\nbob\u{202E}",
      stars: 40,
      at: nil
    ),
  ]

  /// A model after the start, before any data has arrived.
  static func started(_ size: Size, glyphs: GlyphSet = .unicode) -> Model {
    let start = RecordingStart(
      me: alice,
      databaseName: "local",
      size: size,
      isASCII: glyphs == .ascii,
      now: now
    )
    var model = Model(start)
    _ = update(&model, with: .started)
    return model
  }

  /// A model with posts, online.
  static func loaded(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  )
    -> Model
  {
    var model = started(size, glyphs: glyphs)
    model.send(.blog(.connection(.online)))
    model.send(.blog(.feed(.recent, posts: posts)))
    return model
  }

  /// A model with one of my posts open, which has three comments.
  static func opened(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  )
    -> Model
  {
    var model = loaded(size, glyphs: glyphs)
    model.type("j", .enter)
    model.send(.blog(.post("p11", posts[1])))
    model.send(.blog(.comments("p11", comments)))
    return model
  }

  /// A model with three unread notices.
  static func noticed(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  ) -> Model {
    var model = loaded(size, glyphs: glyphs)
    model.send(.blog(.readState(ReadState(before: ago(minutes: 10), stars: ["p07": 38]))))
    model.send(.blog(.notices(notices)))
    return model
  }

  /// Posts with short titles, newest first; the newest has the highest number.
  static func numbered(_ numbers: some Sequence<Int>) -> [Post] {
    numbers.sorted(by: >).map { number in
      Post(
        id: "n\(number)",
        uid: "bob",
        author: "bob",
        title: "Post \(number)",
        body: "Text \(number)",
        createdAt: now
      )
    }
  }
}

/// Input as it is typed: text, or special keys.
enum Typed: ExpressibleByStringLiteral {
  case text(String)
  case key(KeyEvent)

  init(stringLiteral value: String) { self = .text(value) }

  static let enter = Typed.key(.enter)
  static let escape = Typed.key(.escape)
  static let tab = Typed.key(.tab)
  static let down = Typed.key(.down)
  static let up = Typed.key(.up)
  static func control(_ character: Character) -> Typed { .key(.control(character)) }
  static func paste(_ text: String) -> Typed { .key(.paste(text)) }
}

extension Model {
  /// Sends an event; returns its effects apart from requests for comments, which depend on what is
  /// in view rather than on the event.
  @discardableResult
  mutating func send(_ event: Event) -> [Effect] {
    sendAsking(event).filter { if case .request(.watchComments) = $0 { false } else { true } }
  }

  /// Sends an event; returns all its effects.
  mutating func sendAsking(_ event: Event) -> [Effect] { update(&self, with: event) }

  @discardableResult
  mutating func type(_ typed: Typed...) -> [Effect] {
    typed.flatMap { item -> [Effect] in
      switch item {
      case .text(let text): text.flatMap { send(.key(.character($0))) }
      case .key(let key): send(.key(key))
      }
    }
  }

  /// Clicks on a cell.
  @discardableResult
  mutating func click(_ row: Int, _ column: Int) -> [Effect] {
    let position = Position(row: row, column: column)
    return send(.key(.mouse(MouseEvent(kind: .press, position: position))))
  }

  mutating func resize(_ width: Int, _ height: Int) {
    send(.key(.resize(Size(width: width, height: height))))
  }

  /// The lines of the screen.
  var rows: [String] {
    view(self).text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }
}

/// Swift Testing has a type of the same name.
typealias BlogComment = BlogModel.Comment

extension BlogComment {
  /// A comment that was just written.
  init(_ id: String, to parent: String? = nil, by author: String = "bob", _ text: String? = nil) {
    self.init(
      id: id,
      uid: author,
      author: author,
      text: text ?? "text of \(id)",
      parent: parent,
      createdAt: Fixture.now
    )
  }
}

extension Screen {
  /// The position of the cell where a text begins; a trailing newline matches the end of a word.
  func position(of text: String) -> Position? {
    for row in 0..<size.height {
      let cells = Array(self.row(row))
      let letters = cells.map { $0.isContinuation ? "" : $0.text }
      for column in letters.indices {
        let rest = letters[column...].joined()
        guard text.hasSuffix("\n") else {
          if rest.hasPrefix(text) { return Position(row: row, column: column) }
          continue
        }
        let word = text.dropLast()
        guard rest.hasPrefix(word), rest.dropFirst(word.count).first?.isLetter != true else {
          continue
        }
        return Position(row: row, column: column)
      }
    }
    return nil
  }
}

extension SignIn {
  /// The form of a database that may be read without an account.
  init(
    _ accounts: [String] = [],
    returningUser: ReturningUser? = nil,
    size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  ) {
    self.init(
      databaseName: "team",
      accounts: accounts.map { Account(uid: $0, title: "\($0), \($0)@example.org") },
      allowsNobody: true,
      returningUser: returningUser,
      size: size,
      glyphs: glyphs
    )
  }

  /// Makes a choice on the first page.
  mutating func choose(_ choice: Choice) {
    _ = list.select(choice)
    type(.enter)
  }

  @discardableResult
  mutating func type(_ typed: Typed...) -> [SignInEffect] {
    typed.flatMap { item -> [SignInEffect] in
      switch item {
      case .text(let text): text.flatMap { update(.key(.character($0))) }
      case .key(let key): update(.key(key))
      }
    }
  }
}
