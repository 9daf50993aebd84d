import TestSupport
import Testing

@testable import BlogModel
@testable import BlogTUI

/// Does what the lines of a scene say, and checks what comes of it.
struct ScenePlayer {
  private let file: String
  private let size: Size
  private let glyphs: GlyphSet
  private var model: Model
  /// The blog in line mode, if the scene is in it, and what it printed last.
  private var plain: PlainBlog?
  private var printed: [String] = []
  private var kept: ArraySlice<String> = []
  private var keptScreen: Screen?
  /// How much has been checked.
  private(set) var checks = 0

  /// The screen after the last line.
  var screen: Screen { view(model) }

  init(file: String, size: Size = Size(width: 80, height: 24), glyphs: GlyphSet = .unicode) {
    self.file = file
    self.size = size
    self.glyphs = glyphs
    model = Fixture.loaded(size, glyphs: glyphs)
  }

  mutating func play(_ line: Scene.Line) throws {
    let place = "\(file):\(line.number): \(line.text)"
    do {
      let isChecked = try checkFact(line.text, at: place) || checkScreen(line.text, at: place)
      if isChecked { checks += 1 } else { try act(line.text, at: place) }
    } catch let mistake as SceneMistake {
      throw SceneMistake("\(place): \(mistake)")
    }
  }

  // MARK: What is checked

  private func checkFact(_ line: String, at place: String) throws -> Bool {
    let form = /([a-z-]+) (!?[=~]|\^=)(?: (.*))?/.dotMatchesNewlines()
    guard let match = line.wholeMatch(of: form) else { return false }
    let name = String(match.1)
    guard let fact = plainFact(name) ?? SceneFacts(model: model).value(of: name) else {
      throw SceneMistake("there is no fact \(match.1)")
    }
    let value = SceneWords.value(match.3.map { String($0) } ?? "")
    switch match.2 {
    case "=": #expect(fact == value, "\(place)")
    case "!=": #expect(fact != value, "\(place)")
    case "^=": #expect(fact.hasPrefix(value), "\(place): \(fact)")
    case "~": #expect(fact.contains(value), "\(place): \(fact)")
    default: #expect(!fact.contains(value), "\(place)")
    }
    return true
  }

  private func plainFact(_ name: String) -> String? {
    guard let plain else { return nil }
    switch name {
    case "printed": return printed.isEmpty ? "none" : printed.joined(separator: " / ")
    case "printed-count": return "\(printed.count)"
    case "ready": return "\(plain.isReady)"
    case "settled": return "\(plain.isSettled)"
    case "done": return "\(plain.isDone)"
    default: return nil
    }
  }

  private func checkScreen(_ line: String, at place: String) throws -> Bool {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return false }
    let text = SceneWords.value(words[1])
    switch words[0] {
    case "expect": #expect(model.rows.contains { $0.contains(text) }, "\(place)\n\(screen.text())")
    case "refuse": #expect(!model.rows.contains { $0.contains(text) }, "\(place)\n\(screen.text())")
    case "row": try checkRow(words[1], at: place)
    case "line": #expect(model.rows.contains { $0.hasPrefix(text) }, "\(place)\n\(screen.text())")
    case "offer": #expect(offers(text), "\(place)\n\(screen.text())")
    case "no-offer": #expect(!offers(text), "\(place)\n\(screen.text())")
    case "above", "under":
      let texts = SceneWords(words[1]).all.map(\.text)
      let first = model.rows.firstIndex { $0.contains(texts[0]) } ?? -1
      let second = model.rows.firstIndex { $0.contains(texts[1]) } ?? -1
      let next = first < 0 ? "" : model.rows.dropFirst(first + 1).first ?? ""
      let holds =
        words[0] == "above" ? first >= 0 && first < second : next.contains(texts[1])
      #expect(holds, "\(place)\n\(screen.text())")
    case "kept" where words[1] == "screen": #expect(view(model) == keptScreen, "\(place)")
    case "kept": #expect(try rows(words[1]) == kept, "\(place)")
    default: return false
    }
    return true
  }

  /// Whether a box at the cursor has a row with that text.
  private func offers(_ text: String) -> Bool {
    model.rows.contains { row in
      ["│  ", "│▌ ", "|> "].contains { row.contains($0 + text) }
    }
  }

  private func rows(_ range: String) throws -> ArraySlice<String> {
    let ends = range.split(separator: "-").compactMap { Int($0) }
    let rows = model.rows
    guard ends.count == 2, ends[0] <= ends[1], ends[1] < rows.count else {
      throw SceneMistake("there are no rows \(range)")
    }
    return rows[ends[0]...ends[1]]
  }

  private func checkRow(_ check: String, at place: String) throws {
    let words = check.split(separator: " ", maxSplits: 2).map(String.init)
    let rows = model.rows
    guard words.count == 3, let number = Int(words[0]), rows.indices.contains(number) else {
      throw SceneMistake("there is no such row")
    }
    let row = rows[number]
    let text = SceneWords.value(words[2])
    switch words[1] {
    case "is": #expect(row == text, "\(place)")
    case "has": #expect(row.contains(text), "\(place)")
    case "lacks": #expect(!row.contains(text), "\(place)")
    case "begins": #expect(row.hasPrefix(text), "\(place)")
    case "ends": #expect(row.hasSuffix(text), "\(place)")
    default: throw SceneMistake("a row is, has, lacks, begins or ends")
    }
  }

  // MARK: What is done

  private mutating func act(_ line: String, at place: String) throws {
    guard let arrow = line.firstMatch(of: /\ (!?)=>/) else {
      _ = try effects(of: line)
      return
    }
    checks += 1
    let effects = try effects(of: String(line[..<arrow.range.lowerBound]))
    let wanted = try SceneEffects(String(line[arrow.range.upperBound...]), in: model)
    #expect(wanted.match(effects) == arrow.1.isEmpty, "\(place)\n\(effects)")
  }

  private mutating func effects(of line: String) throws -> [Effect] {
    let all = SceneWords(line).all
    guard let verb = all.first?.text else { return [] }
    var words = all.dropFirst().map(\.text)[...]
    switch verb {
    case ">": return try type(all.dropFirst())
    case "keep":
      keptScreen = view(model)
      kept = try rows(try words.take("rows"))
    case "start" where words == ["plain"]: plain = PlainBlog(me: Fixture.alice)
    case "say":
      let answer = plain?.run(words.joined(separator: " "), now: Fixture.now)
      printed = answer?.lines ?? []
      return answer?.effects ?? []
    case "start": model = try start(words)
    case "size": model.send(.key(.resize(try Self.size(words.take("a size")))))
    case "click":
      if words.count == 2 { return model.click(try words.takeNumber(), try words.takeNumber()) }
      let text = try words.take("a text")
      guard let place = view(model).position(of: text) else {
        throw SceneMistake("the screen does not show it")
      }
      return model.click(place.row, place.column)
    case "wheel":
      let kind: MouseEvent.Kind = try words.take("up or down") == "up" ? .wheelUp : .wheelDown
      let place = Position(row: try words.takeNumber(), column: try words.takeNumber())
      return model.send(.key(.mouse(MouseEvent(kind: kind, position: place))))
    case "release":
      let place = Position(row: try words.takeNumber(), column: try words.takeNumber())
      return model.send(.key(.mouse(MouseEvent(kind: .release, position: place))))
    case "set":
      let name = try words.take("a setting")
      guard let setting = Setting(rawValue: name) else { throw SceneMistake("no setting \(name)") }
      let value = setting.value(of: try words.take("a value"), themes: [])
      model.settings.choose(try value.get(), for: setting, from: .session)
      model.relayout()
    case "without-account": model.session.connection.isWithoutAccount = true
    case "deleting": model.delete(try action(&words))
    case "unsent-post":
      let draft = Draft(title: try words.take("a title"), body: try words.take("a text"))
      model.session.writing.unsent.posts.append(draft)
    case "unsent-comment":
      let post = try words.take("a post")
      let draft = CommentDraft(try words.take("a text"))
      model.session.writing.unsent.comments[post, default: []].append(draft)
    case "command": return model.send(.command(words.joined(separator: " ")))
    default:
      let event = try event(verb, words)
      guard plain != nil, case .blog(let event) = event else { return model.send(event) }
      printed = plain?.take(event) ?? []
    }
    return []
  }

  private mutating func type(_ words: ArraySlice<SceneWords.Word>) throws -> [Effect] {
    var effects: [Effect] = []
    var isPaste = false
    for word in words {
      if isPaste {
        effects += model.send(.key(.paste(word.text)))
        isPaste = false
      } else if word.isQuoted {
        effects += model.type(.text(word.text))
      } else if word.text == "paste" {
        isPaste = true
      } else if let key = KeyEvent(description: word.text) {
        effects += model.send(.key(key))
      } else {
        throw SceneMistake("\(word.text) is not a key")
      }
    }
    return effects
  }

  private static func size(_ word: String) throws -> Size {
    let numbers = word.split(separator: "x").compactMap { Int($0) }
    guard numbers.count == 2 else { throw SceneMistake("\(word) is not a size") }
    return Size(width: numbers[0], height: numbers[1])
  }

  private func start(_ words: ArraySlice<String>) throws -> Model {
    let size = try words.dropFirst().first.map { try Self.size($0) } ?? size
    let glyphs: GlyphSet = words.dropFirst(2).first == "ascii" ? .ascii : glyphs
    switch words.first {
    case "loaded": return Fixture.loaded(size, glyphs: glyphs)
    case "opened": return Fixture.opened(size, glyphs: glyphs)
    case "started": return Fixture.started(size, glyphs: glyphs)
    case "busy": return ScreenCatalog.busy(size, glyphs: glyphs)
    case "noticed": return Fixture.noticed(size, glyphs: glyphs)
    case "new":
      return Model(
        RecordingStart(me: Fixture.alice, databaseName: "local", size: size, now: Fixture.now)
      )
    default: throw SceneMistake("there is no such start")
    }
  }

  private func action(_ words: inout ArraySlice<String>) throws -> BlogAction {
    try words.takeAction { id in model.openPost?.comments.all?.first { $0.id == id } }
  }

  // MARK: Events

  private func event(_ verb: String, _ rest: ArraySlice<String>) throws -> Event {
    var words = rest
    switch verb {
    case "begin": return .started
    case "wire": return .wire(ScreenCatalog.wire)
    case "tick": return .tick(now: Fixture.now + Int64(try words.takeNumber()))
    case "posted": return .posted(try words.take("a post"))
    case "commented":
      return .commented(try words.take("a post"), commentID: try words.take("a comment"))
    case "succeeds": return .succeeded(try words.take("a text"))
    case "fails": return .failed(try words.take("a text"))
    case "edited": return .editedText(try words.take("a text"))
    case "edited-post":
      return .edited(Draft(title: try words.take("a title"), body: try words.take("a text")))
    case "configured":
      var configuration = Configuration()
      configuration.keys = words.map { word in
        let parts = word.split(separator: ":").map(String.init)
        return KeyOverride(context: parts[0], keys: parts[1], action: parts[2], line: 1)
      }
      return .configured(configuration)
    default: return .blog(try blogEvent(verb, &words))
    }
  }

  private func blogEvent(_ verb: String, _ words: inout ArraySlice<String>) throws -> BlogEvent {
    switch verb {
    case "feed": return .feed(try words.takeFeed(), posts: try words.takePosts())
    case "feed-failed":
      return .feedFailed(try words.takeFeed(), reason: try words.take("a reason"))
    case "extent":
      let kind = try words.takeFeed()
      return .extent(
        kind,
        FeedExtent(
          hasOlder: words.contains("older"),
          hasNewer: words.contains("newer"),
          pending: Set(words.filter { $0 != "older" && $0 != "newer" })
        )
      )
    case "found":
      let (number, searched) = (try words.takeNumber(), try words.takeNumber())
      let ends: [String: SearchProgress.End] = ["complete": .complete, "full": .full]
      let word = try words.take("how it ended")
      let end = word == "running" ? nil : ends[word] ?? .failed(word)
      let found = try words.takePosts()
      return .found(SearchProgress(number: number, found: found, searched: searched, end: end))
    case "post":
      let id = try words.take("a post")
      return .post(id, words == ["gone"] ? nil : try words.takePosts().first)
    case "post-failed":
      return .postFailed(try words.take("a post"), reason: try words.take("a reason"))
    case "comments": return .comments(try words.take("a post"), try words.takeComments())
    case "latest": return .latestComments(try words.take("a post"), try words.takeComments())
    case "earlier": return .hasEarlierComments(try words.take("a post"), try words.takeFlag())
    case "online": return .connection(.online)
    case "connecting": return .connection(.connecting)
    case "offline":
      return .connection(.offline(retryInSeconds: words.isEmpty ? nil : try words.takeNumber()))
    case "problem":
      let reason = try words.take("a reason")
      let problem = reason == "refused" ? Fixture.refused : ConnectionProblem(reason: reason)
      return .connectionProblem(reason == "none" ? nil : problem)
    case "silence":
      guard words != ["none"] else { return .silence(nil) }
      let since = Fixture.now - Int64(try words.takeNumber())
      return .silence(Silence(since: since, address: Fixture.address))
    case "round-trip": return .roundTrip(milliseconds: try words.takeNumber())
    case "pending": return .pendingWrites(try words.takeNumber())
    case "succeeded": return .succeeded(try action(&words))
    case "failed":
      let action = try action(&words)
      guard words.popFirst() == "because" else { throw SceneMistake("because is missing") }
      return .failed(action, reason: try words.take("a reason"))
    default: return try socialEvent(verb, &words)
    }
  }

  private func socialEvent(_ verb: String, _ words: inout ArraySlice<String>) throws -> BlogEvent {
    switch verb {
    case "named": return .named(Author(uid: "alice", name: try words.take("a name")))
    case "renamed": return .renamed(Author(uid: "alice", name: try words.take("a name")))
    case "unnamed": return .unnamed
    case "lists": return .ownLists(try Self.lists(words))
    case "read-state": return .readState(try Self.readState(&words))
    case "mark-answered": return .markAnswered
    case "mark-refused":
      guard case .mark(let change) = try SceneEffects.effect(&words, in: model),
        words.popFirst() == "because"
      else { throw SceneMistake("a mark or because is missing") }
      return .markRefused(change, reason: try words.take("a reason"))
    case "typing":
      let post = try words.take("a post")
      return .typing(post, words.map { Typist(person: Self.author($0), at: Fixture.now) })
    case "people":
      return .people(try words.enumerated().map { try Self.presence($0.element, $0.offset) })
    case "reading":
      return .reading(
        words.split(separator: ";").map { place in
          let parts = Array(place)
          return ReadingPlace(
            id: parts[0],
            post: parts.count > 1 ? parts[1] : nil,
            title: parts.count > 2 ? parts[2] : nil
          )
        }
      )
    case "notice":
      let (kind, post) = (try words.take("a kind"), try words.take("a post"))
      let (title, rest) = (try words.take("a title"), try words.take("a person or a number"))
      switch kind {
      case "comment": return .notice(.comment(post, title: title, by: Self.author(rest)))
      case "reply": return .notice(.reply(post, title: title, by: Self.author(rest)))
      case "mention": return .notice(.mention(post, title: title, by: Self.author(rest)))
      case "star": return .notice(.star(post, title: title, count: Int(rest) ?? 0))
      default: throw SceneMistake("\(kind) is not a notice")
      }
    case "notices":
      return .notices(words.contains("fixture") ? Fixture.notices : [])
    default: throw SceneMistake("there is no event \(verb)")
    }
  }

  private static func author(_ name: String) -> Author { Author(uid: name, name: name) }

  /// Somebody at a terminal, such as `bob`, or `bob/2@5` at the second since five minutes.
  private static func presence(_ word: String, _ index: Int) throws -> Presence {
    guard let parts = word.wholeMatch(of: /([^\/]+)(?:\/(\d+)@(\d+))?/) else {
      throw SceneMistake("\(word) is nobody")
    }
    let person = author(String(parts.1))
    guard let terminal = parts.2, let minutes = parts.3.flatMap({ Int64($0) }) else {
      return Presence(id: "t\(index)", person: person, terminal: "pts/1", since: nil)
    }
    return Presence(
      id: "\(parts.1)/\(terminal)",
      person: person,
      terminal: "pts/\(terminal)",
      since: Fixture.ago(minutes: minutes)
    )
  }

  /// Lists such as `muted=bob bookmarks=p12 search:s00=old=train`.
  private static func lists(_ words: ArraySlice<String>) throws -> OwnLists {
    var lists = OwnLists()
    for word in words {
      let parts = word.split(separator: "=").map(String.init)
      switch parts[0] {
      case "following": lists.following.insert(parts[1])
      case "muted": lists.muted.insert(parts[1])
      case "blocked": lists.blocked.insert(parts[1])
      case "bookmarks": lists.bookmarks.insert(parts[1])
      case "search":
        lists.searches.append(SavedSearch(slot: parts[1], name: parts[2], text: parts[3]))
      default: throw SceneMistake("\(word) is not a list")
      }
    }
    return lists
  }

  /// A time, as minutes ago or in milliseconds from now or since 1970, and marks.
  private static func readState(_ words: inout ArraySlice<String>) throws -> ReadState {
    let time = try words.take("a time")
    let minutes = time.hasSuffix("m") ? Int64(time.dropLast()) : nil
    let before =
      minutes.map { Fixture.ago(minutes: $0) }
      ?? (time.first == "-" ? Fixture.now + (Int64(time) ?? 0) : Int64(time) ?? Fixture.now)
    var state = ReadState(before: before)
    for word in words {
      let parts = word.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      if parts[0] == "stars" {
        state.stars = [parts[1]: Int(parts[2]) ?? 0]
      } else {
        state.marks[parts[0]] = parts[1] == "unread" ? .unread : .read(lastComment: parts[1])
      }
    }
    return state
  }
}
