import ArgumentParser
import BlogModel
import BlogTUI
import Foundation
import HearthProgram

/// Teaches the blog in two terminals on one screen.
struct TutorCommand: AsyncParsableCommand {
  static let configuration = TutorOptions.configuration

  @MainActor
  func run() async throws {
    let wishes = DemoStage.Wishes(terminals: 2, user: "you", seed: 1, cast: [Tutor.partner])
    try await DemoGuard.watch { folder in
      try await VirtualStage(in: folder, wishes: wishes, tutor: Tutor()).run()
    }
    Output.line("That was the tutor. hearth opens your own blog, in as many terminals as you like.")
  }
}

/// What the tutor teaches, in this order.
enum TutorLesson: Int, CaseIterable {
  case move = 1
  case open
  case star
  case comment
  case write
  case find
  case undo
  case palette
  case help
  case starred
  case end

  var title: SafeText {
    switch self {
    case .move: "Move"
    case .open: "Open a post"
    case .star: "Give a star"
    case .comment: "Comment"
    case .write: "Write a post"
    case .find: "Find"
    case .undo: "Undo"
    case .palette: "All commands"
    case .help: "Help"
    case .starred: "Be starred"
    case .end: "That was all"
    }
  }

  /// What to do, and why.
  var task: SafeText {
    switch self {
    case .move:
      "Press j to go down and k to go up; arrows work, too. What keys do acts on the marked post."
    case .open:
      "Press Enter: the marked post opens with its comments. Escape leads back to the list."
    case .star:
      "Press s. The star shows at once, here and at robin's terminal. Pressed again, s takes it back."
    case .comment:
      "In an open post, press c, type a few words, then Enter. Robin sees that you are writing, and will answer."
    case .write:
      "Escape leads to the list. There, c opens the form: a title, Tab, a text, then ^S sends it. What you type is never lost."
    case .find:
      "In the list, press /, type robin, then Enter: only what matches stays. Escape shows all again."
    case .undo:
      "Press s on a post, then u: that takes back what you did last, also deletions. Nothing here is final at once."
    case .palette:
      "Press ^P: every command is in this list; a few letters find it, and beside it is its key. Escape closes it."
    case .help:
      "Press ?: the ten keys for where you are. It works everywhere you do not type text. Escape closes it."
    case .starred: "Go to the list (Escape, then 1) and watch your post: robin likes it."
    case .end:
      "Your post has a star: two terminals, no reload. q leaves; hearth in two is the real thing."
    }
  }
}

/// Leads through the lessons: notices when one is done, and what the second person has to do then.
struct Tutor {
  /// The name of the second person.
  static let partner = "robin"

  /// What the second person wrote before the learner came.
  static let posts: [(title: String, text: String)] = [
    ("Soup for a wet day", "Leeks, two potatoes, and patience. Salt only at the end."),
    ("A bench by the canal", "Someone has carved a chessboard into it. Bring your own pieces."),
    ("Hello from the other terminal", "I am robin. Whatever you do, I see it at once; try me."),
  ]

  /// Something that the second person does.
  enum Act: Hashable, Sendable {
    case comment(on: Post, text: String)
    case star(Post)
  }

  private(set) var lesson = TutorLesson.move
  /// What the second person is doing or did last, for those who cannot see the second terminal.
  private(set) var news: SafeText = "robin is here"
  private var selection: PostID?
  private var mostChanges = 0
  private var done: Set<Act> = []

  /// Goes to the next lesson without doing this one; false after the last.
  mutating func skip() -> Bool {
    guard lesson != .end else { return false }
    go(by: 1)
    return true
  }

  mutating func back() { go(by: -1) }

  private mutating func go(by step: Int) {
    lesson = TutorLesson(rawValue: lesson.rawValue + step) ?? lesson
    selection = nil
    mostChanges = 0
  }

  /// Looks at the learner's terminal, goes on if the lesson is done, and returns each answer once.
  mutating func look(at model: Model) -> Act? {
    let act = answer(to: model)
    if isDone(in: model) { go(by: 1) }
    guard let act, done.insert(act).inserted else { return nil }
    switch act {
    case .comment: news = "robin answers with a comment"
    case .star(let post): news = "robin looks for " + SafeText(untrusted: post.title)
    }
    return act
  }

  private func answer(to model: Model) -> Act? {
    switch lesson {
    case .comment:
      guard let post = model.openPost?.post, hasCommented(in: model) else { return nil }
      return .comment(on: post, text: "Well said! I saw it the moment you sent it.")
    case .write:
      guard let post = ownPost(in: model) else { return nil }
      return .comment(on: post, text: "Your first post! It is on my screen already.")
    case .starred:
      guard let post = ownPost(in: model), model.context == .list else { return nil }
      // What else happened to the post makes no other act.
      guard
        !done.contains(where: {
          if case .star(let known) = $0 { known.id == post.id } else { false }
        })
      else { return nil }
      return .star(post)
    case .move, .open, .star, .find, .undo, .palette, .help, .end: return nil
    }
  }

  private mutating func isDone(in model: Model) -> Bool {
    switch lesson {
    case .move:
      guard model.context == .list, let now = model.feed.list.selection else { return false }
      defer { selection = selection ?? now }
      return selection.map { $0 != now } ?? false
    case .open: return model.openPost?.post != nil
    case .star: return model.feed.posts.contains { $0.stars.contains(model.me.uid) }
    case .comment: return hasCommented(in: model)
    case .write: return ownPost(in: model) != nil
    case .find: return model.search.map { $0.pattern != nil && !$0.isEditing } ?? false
    case .undo:
      let count = model.writing.undoable.count
      mostChanges = max(mostChanges, count)
      // Before this lesson is over, something must have been done in it.
      return count < mostChanges
    case .palette: return model.chooser?.kind == .palette
    case .help: return model.help != nil
    case .starred:
      guard isStarred(in: model) else { return false }
      news = "robin has starred your post"
      return true
    case .end: return false
    }
  }

  private func hasCommented(in model: Model) -> Bool {
    model.openPost?.comments.visible?.contains { $0.uid == model.me.uid } ?? false
  }

  private func isStarred(in model: Model) -> Bool {
    ownPost(in: model)?.stars.contains { $0 != model.me.uid } ?? false
  }

  /// The learner's newest post.
  private func ownPost(in model: Model) -> Post? {
    model[.recent].posts.first { $0.uid == model.me.uid }
  }

  /// What to do now.
  func task(in model: Model) -> SafeText {
    if lesson == .end, !isStarred(in: model) {
      return "? and ^P tell the rest. q leaves; hearth in two terminals is the real thing."
    }
    return lesson == .starred && ownPost(in: model) == nil
      ? "Robin has nothing of yours to star yet: write a post (in the list: c, a title, Tab, a text, ^S)."
      : lesson.task
  }
}

extension DemoDirector {
  /// Has the second person answer at their terminal, as anyone would.
  func perform(_ act: Tutor.Act) {
    guard let partner = plan.actors.first else { return }
    switch act {
    case .comment(let post, let text):
      guard selects(post, partner) else { return }
      terminals.press(["Enter"], in: [partner.pane])
      comment(text, by: partner)
    case .star(let post):
      guard selects(post, partner) else { return }
      pause(1_000)
      terminals.press(["s"], in: [partner.pane])
    }
  }

  /// Marks a post in the person's list; false if it is not there.
  private func selects(_ post: Post, _ person: DemoPlan.Actor) -> Bool {
    // Other people's titles may be drawn differently, but their names stand in the row, too.
    let marks = [String(post.title.prefix(8))] + (post.author == person.name ? [] : [post.author])
    for _ in 0..<8 where !hasEnded {
      showNewest(in: [person.pane])
      for _ in 0..<8 where !hasEnded {
        let isSelected = waits(for: 500) {
          guard let row = selectedRow(of: person) else { return false }
          return marks.contains { row.contains($0) }
        }
        if isSelected { return true }
        terminals.press(["j"], in: [person.pane])
      }
    }
    return false
  }
}

/// Where the parts of the tutor stand: lines that say what to do, and below them the two terminals.
struct TutorLayout {
  private static func lines(for width: Int) -> Int { width < 78 ? 5 : 4 }
  /// What the second terminal needs, with its frame.
  private static let least = Size(width: 60, height: 8)

  /// The lines that say what to do.
  let strip: Rect
  /// The frames of the two terminals; where there is room for one only, the second is empty.
  let frames: [Rect]

  init(_ size: Size) {
    let top = min(Self.lines(for: size.width), size.height / 3)
    strip = Rect(row: 0, column: 0, width: size.width, height: top)
    let height = size.height - top
    if size.width >= 2 * Self.least.width, height >= Self.least.height {
      let left = size.width / 2
      frames = [
        Rect(row: top, column: 0, width: left, height: height),
        Rect(row: top, column: left, width: size.width - left, height: height),
      ]
    } else if size.width >= Self.least.width, height >= Self.least.height * 5 / 2 {
      let first = height * 3 / 5
      frames = [
        Rect(row: top, column: 0, width: size.width, height: first),
        Rect(row: top + first, column: 0, width: size.width, height: height - first),
      ]
    } else {
      frames = [Rect(row: top, column: 0, width: size.width, height: height), .zero]
    }
  }
}

extension Tutor {
  /// Says on the lines what to do.
  func paint(_ model: Model, on screen: inout Screen, in strip: Rect, glyphs: GlyphSet) {
    let theme = Theme.dark
    let width = max(1, strip.width - 2)
    let count = TutorLesson.allCases.count - 1
    let number = SafeText(untrusted: lesson == .end ? "" : "\(lesson.rawValue) of \(count): ")
    var lines = [(number + lesson.title, theme[.brand])]
    lines += task(in: model).wrapped(width: width).map { ($0, theme[.text]) }
    // What does not fit ends with what the learner needs least.
    lines = Array(lines.prefix(max(1, strip.height - 1)))
    for (row, line) in lines.enumerated() {
      let rect = Rect(row: strip.row + row, column: 1, width: width, height: 1)
      screen.put(line.0, in: rect, style: line.1, ellipsis: glyphs.ellipsis)
    }
    let last = Rect(row: strip.endRow - 1, column: 1, width: width, height: 1)
    let keys: SafeText = "F8 skip  F7 back  ^C leave"
    screen.put(keys, in: last, style: theme[.dim], ellipsis: glyphs.ellipsis)
    let rest = last.width - keys.width - 2
    guard rest > 0 else { return }
    let place = Rect(row: last.row, column: last.endColumn - rest, width: rest, height: 1)
    screen.put(
      news,
      in: place,
      style: theme[.notice],
      aligned: .trailing,
      ellipsis: glyphs.ellipsis
    )
  }
}
