import TestSupport

@testable import BlogModel
@testable import BlogTUI

/// Arbitrary events, always the same for the same seed.
struct RandomEvents {
  private var random: SplitMix64
  private var posts: [Post] = []
  private var comments: [BlogComment] = []
  private var serial = 0

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  static let hostileTexts = [
    "", " ", "plain text", "a\nb\r\nc\rd", "\u{1B}[2J\u{1B}]0;x\u{7}", "\u{202E}evil\u{2066}",
    "\u{200B}\u{200D}\u{FEFF}", "漢字かな交じり文", "👨‍👩‍👧‍👦🏳️‍🌈🇩🇪", "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\t\ttabs", "\u{0}\u{8}\u{7F}\u{9B}31m", "\u{1FABF}\u{FFFF}\u{E0041}",
    String(repeating: "long ", count: 400), String(repeating: "W", count: 3_000),
    String(repeating: "\n", count: 500), "\u{301}starts with a mark", "ｆｕｌｌ　ｗｉｄｔｈ",
  ]

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  private mutating func text() -> String { Self.hostileTexts[below(Self.hostileTexts.count)] }
  private mutating func feedKind() -> FeedKind { FeedKind.tabs[below(4)] }
  private mutating func number() -> Int {
    [0, 1, 7, 99_999, -1, .max, .min][below(7)]
  }
  private mutating func time() -> Int64 {
    [Fixture.now, 0, .max, .min, Fixture.now - 90_000_000_000, 1][below(6)]
  }

  mutating func next() -> Event {
    switch below(10) {
    case 0...5: return .key(key())
    case 6...8: return .blog(blogEvent())
    default: break
    }
    switch below(12) {
    case 6: return .wire([wireEvent()])
    case 7: return .command(command())
    case 8: return .configured(configuration())
    case 9: return .edited(Draft(title: text(), body: text()))
    case 10: return chance(50) ? .succeeded(text()) : .failed(text())
    case 0: return .tick(now: time())
    case 1: return .posted(postID())
    case 2: return .commented(postID(), commentID: "c\(below(30))")
    case 3: return .resumed
    case 4: return .started
    default: return .key(.resize(Size(width: below(201), height: below(61))))
    }
  }

  private mutating func wireEvent() -> WireEvent {
    let kind = WireEvent.Kind.allCases[below(WireEvent.Kind.allCases.count)]
    return WireEvent(time: time(), kind: kind, title: text(), detail: text())
  }

  private mutating func command() -> String {
    let names = Command.all.map(\.name) + KeyTable.standard.actions.map(\.name)
    return names[below(names.count)] + [" ", " " + text(), " theme light", ""][below(4)]
  }

  private mutating func configuration() -> Configuration {
    var configuration = Configuration()
    let themes = Theme.builtIn.map(\.name)
    configuration.settings.choose(.word(themes[below(4)]), for: .theme, from: .session)
    configuration.settings.choose(.flag(chance(50)), for: .ascii, from: .session)
    let problem = ConfigurationProblem(source: text(), line: number(), reason: text())
    if chance(50) { configuration.problems = [problem] }
    let keys = ["g", "x", "? ?", "Enter", "^A"][below(5)]
    let name = KeyTable.standard.actions.map(\.name)[below(30)]
    configuration.keys = [KeyOverride(context: nil, keys: keys, action: name, line: 1)]
    return configuration
  }

  private mutating func postID() -> PostID { "p\(below(120))" }

  private mutating func key() -> KeyEvent {
    let commands = Array("jkgGdyncsr/?.qhlN1234ib* axXueamMUFwvt|::opf")
    switch below(12) {
    case 0...5: return .character(commands[below(commands.count)])
    case 6: return .character(Character(text().first.map(String.init) ?? "ü"))
    case 7: return .control(Array("abcdefghklnpsuwxyz[]_")[below(21)])
    case 8: return [.enter, .enter, .escape, .tab, .backTab][below(5)]
    case 9: return .paste(text())
    case 10: return mouse()
    default:
      let keys: [KeyEvent] = [
        .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .insert, .delete, .backspace,
        .controlLeft, .controlRight, .function(1), .function(9), .function(2), .function(4),
        .function(12), .alt(.character("x")),
        .alt(.character("b")),
        .alt(.backspace),
      ]
      return keys[below(keys.count)]
    }
  }

  private mutating func mouse() -> KeyEvent {
    let kinds: [MouseEvent.Kind] = [.press, .press, .release, .wheelUp, .wheelDown]
    let position = Position(row: below(62) - 1, column: below(202) - 1)
    return .mouse(MouseEvent(kind: kinds[below(5)], position: position))
  }

  private mutating func blogEvent() -> BlogEvent {
    switch below(16) {
    case 0...2: return .feed(feedKind(), posts: changedPosts())
    case 8: return .extent(feedKind(), extent())
    case 9: return .typing(postID(), [Typist(person: author(), at: time())])
    case 10:
      return chance(70)
        ? .readState(readState())
        : chance(70) ? .markAnswered : .markRefused(.allRead, reason: text())
    case 11: return people()
    case 12: return .latestComments(postID(), changedComments())
    case 3: return .feedFailed(feedKind(), reason: text())
    case 4:
      return chance(10)
        ? .postFailed(postID(), reason: text()) : .post(postID(), chance(70) ? post() : nil)
    case 5: return .comments(postID(), changedComments())
    case 6:
      let states: [ConnectionState] = [
        .online, .connecting, .offline(retryInSeconds: nil), .offline(retryInSeconds: number()),
      ]
      return .connection(states[below(4)])
    case 7: return .pendingWrites(number())
    case 15:
      let ends: [SearchProgress.End?] = [nil, nil, .complete, .full, .failed(text())]
      return .found(
        SearchProgress(
          number: below(5),
          found: changedPosts(),
          searched: number(),
          reached: chance(50) ? time() : nil,
          end: ends[below(5)]
        )
      )
    case 13: return .silence(chance(50) ? Silence(since: time(), address: text()) : nil)
    case 14:
      let problem = ConnectionProblem(
        reason: text(),
        cause: chance(50) ? text() : nil,
        address: chance(50) ? text() : nil,
        isPermanent: chance(50)
      )
      return .connectionProblem(chance(80) ? problem : nil)
    default: return chance(50) ? .succeeded(action()) : .failed(action(), reason: text())
    }
  }

  private mutating func author() -> Author { Author(uid: text(), name: text()) }

  private mutating func extent() -> FeedExtent {
    FeedExtent(hasOlder: chance(50), hasNewer: chance(30), pending: [postID()])
  }

  private mutating func readState() -> ReadState {
    let mark = chance(50) ? ReadState.Mark.unread : .read(lastComment: "c\(below(30))")
    return ReadState(before: time(), marks: [postID(): mark])
  }

  private mutating func people() -> BlogEvent {
    switch below(5) {
    case 4:
      let title = chance(50) ? text() : nil
      return .reading([ReadingPlace(id: "t", post: chance(80) ? postID() : nil, title: title)])
    case 0: return .roundTrip(milliseconds: number())
    case 2: return .notices((0..<below(5)).map { _ in notice() })
    case 1: return .notice(.comment(postID(), title: text(), by: author()))
    default:
      let presence = Presence(id: "t", person: author(), terminal: text(), since: time())
      return .people([presence])
    }
  }

  private mutating func notice() -> NoticeEntry {
    let kinds: [NoticeEntry.Kind] = [.comment, .reply, .mention, .stars]
    let comment = chance(50) ? "c\(below(30))" : nil
    return NoticeEntry(
      id: comment ?? postID(),
      kind: kinds[below(4)],
      post: postID(),
      title: text(),
      comment: comment,
      author: chance(70) ? author() : nil,
      text: text(),
      stars: number(),
      at: chance(70) ? time() : nil
    )
  }

  private mutating func action() -> BlogAction {
    switch below(7) {
    case 5: return .edit(postID(), title: text(), body: text())
    case 6: return .editComment(postID(), commentID: "c\(below(30))", text: text())
    case 0: return .post(postID(), title: text(), body: text())
    case 1: return .comment(postID(), commentID: "c", text: text())
    case 2: return .star(postID(), chance(50))
    case 3: return .deletePost(postID())
    default: return .deleteComment(postID(), commentID: "c")
    }
  }

  private mutating func post() -> Post {
    Post(
      id: postID(),
      uid: chance(40) ? "alice" : text(),
      author: text(),
      title: text(),
      body: text(),
      starCount: number(),
      stars: chance(30) ? ["alice"] : [],
      createdAt: chance(80) ? time() : nil
    )
  }

  private mutating func changedPosts() -> [Post] {
    if chance(10) { posts = [] }
    for _ in 0..<below(4) { posts.insert(post(), at: below(posts.count + 1)) }
    if !posts.isEmpty, chance(40) { posts.remove(at: below(posts.count)) }
    if chance(5) { posts.shuffle(using: &random) }
    posts = Array(posts.prefix(100))
    return posts
  }

  private mutating func changedComments() -> [BlogComment] {
    if chance(5) { comments = [] }
    for _ in 0..<below(3) {
      serial += 1
      comments.append(
        BlogComment(
          id: "c\(chance(90) ? serial : below(30))",
          uid: chance(50) ? "alice" : "bob",
          author: text(),
          text: text(),
          parent: chance(40) ? "c\(below(30))" : nil,
          createdAt: chance(80) ? time() : nil
        )
      )
    }
    if !comments.isEmpty, chance(40) { comments.remove(at: below(comments.count)) }
    comments = Array(comments.suffix(40))
    return comments
  }
}
