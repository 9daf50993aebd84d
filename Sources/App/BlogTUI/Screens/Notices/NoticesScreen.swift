import BlogModel

/// What others did that concerns the user: comments, answers, stars, mentions.
///
/// It stays behind a post that is opened from it, so that closing the post returns to it.
struct NoticesScreen: RowScreen {
  static let layer = ScreenLayer.reading

  /// The rows, identified by the keys of the notices.
  var list = ListView<String>()
  /// New stars of unknown time; they stay at the top while the list is open.
  private let pinned: Set<String>

  init(_ session: Session) {
    let entries = session.reading.notices ?? []
    pinned = Set(
      entries.filter { $0.at == nil && session.isUnread($0) }.map(\.id)
    )
    update(session)
    resize(in: session)
  }

  /// A click selects a row; a click on the selected row opens it.
  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    guard let list = model.stack[NoticesScreen.self]?.list, list.ids.indices.contains(row) else {
      return []
    }
    if list.selectedIndex == row { return model.openNotice() }
    model.stack[NoticesScreen.self]?.list.move(to: row)
    return []
  }

  /// Adopts the session's notices; the selected row stays in position.
  mutating func update(_ session: Session) {
    let entries = session.reading.notices ?? []
    let first = entries.filter { pinned.contains($0.id) }
    let others = entries.filter { !pinned.contains($0.id) }
    list.update(ids: (first + others).map(\.id))
  }

  func context(in session: Session) -> Context { .notices }

  func draw(on painter: inout Painter) { painter.paint(self) }
}

extension Context {
  static let notices = Context("notices", title: "In the notices")
}

extension Session {
  func isUnread(_ entry: NoticeEntry) -> Bool { reading.marks.state?.isUnread(entry) == true }

  package var unreadNotices: Int {
    reading.notices?.count(where: isUnread) ?? 0
  }

  /// Records that the user knows the current number of stars, on one post or on all.
  mutating func noteStars(on post: PostID? = nil) -> [Effect] {
    let entries = (reading.notices ?? []).filter {
      $0.kind == .stars && (post == nil || $0.post == post)
    }
    return reading.marks.note(stars: entries.map { ($0.post, $0.stars) })
  }

  /// Records the stars of old posts, so that only later ones count as new.
  mutating func noteOldStars() -> [Effect] {
    guard let state = reading.marks.state else { return [] }
    return reading.marks.note(
      stars: (reading.notices ?? []).compactMap { entry in
        state.starsToNote(of: entry).map { (entry.post, $0) }
      }
    )
  }
}

extension Model {
  mutating func take(_ entries: [NoticeEntry]) -> [Effect] {
    session.reading.inbox.entries = entries
    stack[NoticesScreen.self]?.update(session)
    return session.noteOldStars()
  }

  /// Shows the notices, in front of any open post.
  fileprivate mutating func openNotices() {
    stack[NoticesScreen.self] = nil
    stack[NoticesScreen.self] = NoticesScreen(session)
  }

  private var selectedNotice: NoticeEntry? {
    guard let id = stack[NoticesScreen.self]?.list.selection else { return nil }
    return session.reading.notices?.first { $0.id == id }
  }

  /// Opens the post of a notice, at its comment.
  fileprivate mutating func openNotice() -> [Effect] {
    guard let entry = selectedNotice else { return [] }
    let effects = closePost() + open(entry.post)
    openPost?.wanted = entry.comment
    return effects + session.noteStars(on: entry.post)
  }

  /// Marks a notice as read, together with earlier ones on the same post.
  fileprivate mutating func markNoticeRead() -> [Effect] {
    guard let entry = selectedNotice else { return [] }
    guard session.isUnread(entry) else {
      return session.answer(.notDone("The notice is read already"))
    }
    let before = session.reading.marks.state
    defer { session.addMarks(since: before, "The notice is unread again") }
    return markRead([entry])
  }

  fileprivate mutating func markNoticesRead() -> [Effect] {
    let unread = (session.reading.notices ?? []).filter(session.isUnread)
    guard !unread.isEmpty else { return session.answer(.notDone("No notice is unread.")) }
    let before = session.reading.marks.state
    defer { session.addMarks(since: before, "What was unread is unread again") }
    session.message = .note("All notices are read; \(session.key("undo", in: .notices)) undoes")
    return markRead(unread)
  }

  fileprivate mutating func clearNotices() -> [Effect] {
    let entries = session.reading.notices ?? []
    let keys = entries.map(\.key)
    guard let key = keys.max(), let first = keys.min() else { return [] }
    let before = session.reading.marks.state
    let effects = markRead(entries.filter(session.isUnread)) + session.noteStars()
    // What was cleared earlier stays so: it is behind the beginning of the first key.
    let earlier = String(first.dropLast())
    session.writing.add(.notices(after: earlier, from: before, to: session.reading.marks.state))
    session.message = .note("The notices are cleared; \(session.key("undo", in: .notices)) undoes")
    return effects + [.mark(.clearNotices(upTo: key))]
  }

  private mutating func markRead(_ entries: [NoticeEntry]) -> [Effect] {
    var last: [PostID: String] = [:]
    var effects: [Effect] = []
    for entry in entries {
      if entry.kind == .stars {
        effects += session.noteStars(on: entry.post)
      } else {
        last[entry.post] = max(last[entry.post] ?? "", entry.comment ?? "")
      }
    }
    for (post, comment) in last.sorted(by: { $0.key < $1.key }) {
      // The mark never moves back.
      let known = session.reading.marks.state?.lastComment(on: post) ?? ""
      let mark = ReadState.Mark.read(lastComment: max(known, comment))
      effects.append(session.reading.marks.mark(post, as: mark))
    }
    return effects
  }
}

enum NoticesActions {
  static let motions = BoundAction.motions(in: .notices) { model, motion in
    model.stack[NoticesScreen.self]?.list.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .notices,
      keys: ["F3"],
      in: [.list, .post, .drafts],
      help: "what others did: comments, answers, stars, your name"
    ) { $0.openNotices() },
    BoundAction(
      .open,
      keys: ["Enter", "l", "Right"],
      in: [.notices],
      help: "open the post, at the comment"
    ) { $0.openNotice() }
    .hint("open", rank: 2)
    .unless { $0.stack[NoticesScreen.self]?.list.selection == nil ? .nothingThere : nil },
    BoundAction("toggle-read", keys: ["m"], in: [.notices], help: "mark as read") {
      $0.markNoticeRead()
    }
    .hint("read", rank: 4),
    BoundAction("mark-all-read", keys: ["M"], in: [.notices], help: "mark all as read") {
      $0.markNoticesRead()
    }
    .hint("all read", rank: 5),
    BoundAction("clear-notices", keys: ["D"], in: [.notices], help: "clear the list") {
      $0.clearNotices()
    }
    .unless { $0.stack[NoticesScreen.self]?.list.selection == nil ? .nothingThere : nil },
    BoundAction(.back, keys: ["q", "Esc", "h", "Left", "F3", "^C"], in: [.notices], help: "back") {
      $0.stack[NoticesScreen.self] = nil
    }
    .hint("back", rank: 3),
  ]
}
