import BlogModel

@testable import BlogTUI

/// What is expected of an event, such as `… write ; quit`.
struct SceneEffects {
  /// One effect, or nil for any number of any.
  private let wanted: [((Effect) -> Bool)?]

  init(_ text: String, in model: Model) throws {
    wanted = try SceneWords(text).all.map(\.text).split(separator: ";").map { group in
      var words = group
      if words == ["…"] { return nil }
      if let kind = Self.kind(words) { return kind }
      let effect = try Self.effect(&words, in: model)
      guard words.isEmpty else { throw SceneMistake("\(group) says too much") }
      return { $0 == effect }
    }
  }

  /// Whether these are the effects.
  func match(_ effects: [Effect]) -> Bool { Self.match(wanted[...], effects[...]) }

  private static func match(
    _ wanted: ArraySlice<((Effect) -> Bool)?>,
    _ effects: ArraySlice<Effect>
  ) -> Bool {
    guard let first = wanted.first else { return effects.isEmpty }
    guard let first else {
      return (0...effects.count).contains {
        match(wanted.dropFirst(), effects.dropFirst($0))
      }
    }
    guard let effect = effects.first else { return false }
    return first(effect) && match(wanted.dropFirst(), effects.dropFirst())
  }

  /// Effects of which only a part matters.
  private static func kind(_ words: ArraySlice<String>) -> ((Effect) -> Bool)? {
    switch Array(words) {
    case ["any"]: { _ in true }
    case ["write"]: { if case .write = $0 { true } else { false } }
    case ["keep-setting"]:
      { if case .environment(.keepSetting) = $0 { true } else { false } }
    case let words where words.first == "restore":
      {
        if case .mark(.restore(_, let marks)) = $0 {
          text(marks) == words.dropFirst()
        } else {
          false
        }
      }
    default: nil
    }
  }

  /// Marks that are restored, such as `p09=unread p12=none`.
  private static func text(_ marks: [PostID: ReadState.Mark?]) -> ArraySlice<String> {
    let words = marks.map { post, mark in
      switch mark {
      case .read(let comment): "\(post)=\(comment)"
      case .unread: "\(post)=unread"
      case nil: "\(post)=none"
      }
    }
    return words.sorted()[...]
  }

  static func effect(_ words: inout ArraySlice<String>, in model: Model) throws -> Effect {
    let before = words
    let verb = try words.take("an effect")
    switch verb {
    case "quit": return .quit
    case "stop-search": return .search(nil)
    case "read":
      let (post, comment) = (try words.take("a post"), try words.take("a comment"))
      return .mark(.post(post, .read(lastComment: comment)))
    case "read-now": return .mark(.post(try words.take("a post"), .read(until: Fixture.now)))
    case "unread": return .mark(.post(try words.take("a post"), .unread))
    case "all-read": return .mark(.allRead)
    case "stars": return .mark(.stars([try words.take("a post"): try words.takeNumber()]))
    case "clear-notices": return .mark(.clearNotices(upTo: try words.take("a notice")))
    case "redraw": return .terminal(.redraw)
    case "suspend": return .terminal(.suspend)
    case "bell": return .terminal(.bell)
    case "notify": return .terminal(.notify(try words.take("a text")))
    case "copy": return .terminal(.copy(try words.take("a text")))
    case "link": return .environment(.openLink(try words.take("a link")))
    case "network": return .environment(.network(try words.takeFlag()))
    case "edit-text":
      let draft = CommentDraft(try words.take("a text"))
      return .environment(.editText(draft, on: try words.take("a post")))
    case "keep-setting":
      let name = try words.take("a setting")
      guard let setting = Setting(rawValue: name) else { throw SceneMistake("no setting \(name)") }
      return .environment(.keepSetting(setting, .flag(try words.takeFlag())))
    default:
      if let request = try request(verb, &words) { return .request(request) }
      words = before
      return .write(
        try words.takeAction { id in
          model.openPost?.comments.all?.first { $0.id == id }
        }
      )
    }
  }

  private static func request(
    _ verb: String,
    _ words: inout ArraySlice<String>
  ) throws -> BlogRequest? {
    switch verb {
    case "watch": .follow(try words.takeFeed())
    case "leave": .stopFollowing(try words.takeFeed())
    case "at": .read(try words.takeFeed(), at: try words.take("a post"))
    case "newest": .showFirst(try words.takeFeed())
    case "open": .open(try words.take("a post"))
    case "close": .close(try words.take("a post"))
    case "earlier": .showEarlierComments(try words.take("a post"))
    case "hear": .hearNotices(try words.takeFlag())
    case "typing": .typing(try words.take("a post"), try words.takeFlag())
    case "share": .shareReading(try words.takeFlag())
    case "company": .watchReading(try words.takeFlag())
    default: nil
    }
  }
}
