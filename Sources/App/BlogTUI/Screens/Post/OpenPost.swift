package import BlogModel

/// An open post: its text, its comments and the comment line.
///
/// States: loading → present ⇄ gone. The typed comment is kept in every state.
package struct OpenPost: Equatable, Sendable {
  /// The key of the post.
  package let id: PostID
  /// The last known version of the post.
  package private(set) var post: Post?
  /// Whether the post was deleted.
  package private(set) var isGone = false
  /// Whether the comments have arrived.
  private(set) var hasComments = false
  /// The visible comments, each followed by its answers.
  private(set) var rows = CommentThreads()
  /// The comments whose answers are hidden.
  private(set) var folded: Set<String> = []
  /// The selected comment; nil if the post itself is selected.
  package internal(set) var selection: String?
  /// The comment that is being written.
  package internal(set) var field: TextArea
  /// What completes the word at its cursor.
  var completer = Completer()
  /// The number of lines that it takes on the screen.
  package private(set) var fieldHeight = 1
  /// The comment that it answers; nil if it is about the post itself.
  package internal(set) var answered: Comment?
  /// The comment to select as soon as it arrives, after the user has chosen a notice.
  var wanted: String?
  /// Whether there are comments before those that are here.
  package internal(set) var hasEarlier = false
  /// Whether keys are typed into the comment.
  package internal(set) var isWriting = false
  /// How the texts are shown.
  private var source = PostLayout.SourceView.raw
  /// All lines of the screen.
  package private(set) var layout = PostLayout()
  /// The number of lines above the first visible one.
  package internal(set) var top = 0
  /// The number of lines in view.
  package private(set) var capacity = 1
  /// The user's new comment, to be scrolled into view as soon as it arrives.
  package internal(set) var awaited: String?

  /// The comment that is being edited; nil for a new one.
  package internal(set) var editing: Comment?
  /// Whether the post was marked as unread while open; viewing it then does not mark it as read.
  package internal(set) var staysUnread = false
  /// Who else is writing a comment.
  package internal(set) var typists: [Typist] = []
  /// The first comment that was unread when the post was opened; the line above it does not move.
  package private(set) var firstUnread: String?
  /// The read state when the post was opened; nil until it is known.
  private var readBefore: ReadState?
  /// All comments in the database, including those about to be deleted.
  private var allComments: [Comment]?
  private var hidden: Set<String> = []
  /// The people of whose comments only the headings are shown.
  private(set) var muted: Set<String> = []
  private var me = ""

  /// Opens a post, with what the list already knows about it.
  init(id: PostID, known: Post?, comment: CommentDraft?) {
    self.id = id
    post = known
    field = TextArea(text: comment?.text ?? "", limit: EditorLimit.characters)
    answered = comment?.answered
    editing = comment?.editing
  }

  /// The content of the comment line as a draft.
  var draft: CommentDraft {
    CommentDraft(field.text, answering: editing == nil ? answered : nil, editing: editing)
  }

  /// Whether the comment line has something that was typed and not sent.
  var hasDraft: Bool { !field.isEmpty && editing?.text != field.text }

  /// Puts a draft into the comment line, or empties it.
  mutating func take(_ draft: CommentDraft?) {
    field.setText(draft?.text ?? "")
    answered = draft?.answered
    editing = draft?.editing
  }

  /// Makes a new comment of an edit whose comment was deleted; returns whether there was one.
  mutating func endEditOfGoneComment() -> Bool {
    guard let id = editing?.id, let allComments, !allComments.contains(where: { $0.id == id }),
      !isEarlier(id)
    else { return false }
    editing = nil
    return !field.isEmpty
  }

  /// Whether a comment may be among those that are not here.
  private func isEarlier(_ id: String) -> Bool {
    guard hasEarlier, let first = allComments?.first?.id else { return false }
    return id.utf16.lexicographicallyPrecedes(first.utf16)
  }

  /// What brings the comment of a notice that is not here yet.
  func takeWishForEarlier() -> Effect? {
    guard let wanted, isEarlier(wanted) else { return nil }
    return .request(.showEarlierComments(id))
  }

  /// The visible comments, each followed by its answers; nil until they arrive.
  package var comments: [Comment]? { hasComments ? rows.comments : nil }
  /// The index of the selected comment.
  package var selectedIndex: Int? { selection.flatMap { rows.index(of: $0) } }
  package var selectedComment: Comment? { selectedIndex.map { rows.comment(at: $0) } }
  /// The visible comment with a key.
  func comment(_ id: String) -> Comment? { rows.index(of: id).map { rows.comment(at: $0) } }
  /// The indices of the lines in view.
  package var visibleRange: Range<Int> { top..<min(layout.lineCount, top + capacity) }
  /// The number of comments that begin below the last visible line.
  package var commentsBelow: Int { rows.count - layout.firstComment(from: top + capacity) }
  /// Whether the end of the text is in view.
  var isAtEnd: Bool { top + capacity >= layout.contentCount }
  var lastTop: Int { max(0, layout.contentCount - capacity) }

  /// Updates the post; nil means that it was deleted.
  mutating func update(post new: Post?) {
    isGone = new == nil
    guard let new, new != post else { return }
    post = new
    rebuild(width: layout.width)
  }

  /// Updates the comments and keeps the reader's position.
  mutating func update(comments new: [Comment]) {
    allComments = new
    let present = present(of: new)
    for id in [wanted, awaited] { if let id { unfold(to: id, in: present) } }
    let shown = CommentThreads.rows(of: present, folded: folded)
    guard shown != rows || !hasComments else { return }
    let isFirst = !hasComments
    let follows = isAtEnd && hasComments && (top > 0 || isWriting || isLastSelected)
    let neighbour = selectedIndex
    rows = shown
    hasComments = true
    if let selection, shown.index(of: selection) == nil {
      // If the selected comment is folded away, its nearest visible ancestor is selected. If it is
      // gone, the next comment is selected, or otherwise the previous one.
      let index = min(neighbour ?? 0, shown.count - 1)
      let above = CommentThreads.ancestors(of: selection, in: present)
      self.selection =
        above.first { shown.index(of: $0) != nil }
        ?? (index >= 0 ? shown.comment(at: index).id : nil)
    }
    if isFirst { findFirstUnread() }
    rebuild(width: layout.width)
    if follows { followEnd() }
    if let id = awaited, let index = shown.index(of: id) {
      awaited = nil
      reveal(layout.range(of: index))
    }
    if let id = wanted, let index = shown.index(of: id) {
      wanted = nil
      select(index)
    }
  }

  /// The comments that are not about to be deleted, each once; without a copy if that is all.
  private func present(of comments: [Comment]) -> [Comment] {
    let isAscending = zip(comments, comments.dropFirst()).allSatisfy { $0.key < $1.key }
    if hidden.isEmpty, isAscending { return comments }
    var keys = Set(hidden.map(Comment.Key.init))
    return comments.filter { keys.insert($0.key).inserted }
  }

  /// The number of comments, including folded ones; nil until they arrive.
  package var commentCount: Int? { hasComments ? rows.all.count : nil }
  /// The key of the newest comment, including folded ones.
  var newestComment: String? { rows.all.last?.id }

  // MARK: Folding

  /// Hides the answers to the selected comment, or shows them again.
  ///
  /// If it has none, this applies to the comment that it answers. Returns false if there is nothing
  /// to hide.
  mutating func toggleFold() -> Bool {
    guard let index = selectedIndex else { return false }
    let row = rows[index]
    let above = CommentThreads.ancestors(of: row.comment.id, in: rows.all)
    guard let id = row.answers > 0 ? row.comment.id : above.first else { return false }
    if folded.remove(id) == nil { folded.insert(id) }
    selection = id
    refold()
    if let index = selectedIndex { reveal(layout.range(of: index)) }
    return true
  }

  /// Hides all answers, or shows all if any are hidden; returns false if there are none.
  mutating func toggleFolds() -> Bool {
    guard !folded.isEmpty || rows.contains(where: { $0.answers > 0 }) else { return false }
    folded =
      folded.isEmpty ? Set(rows.filter { $0.answers > 0 && $0.depth == 0 }.map(\.comment.id)) : []
    refold()
    if let index = selectedIndex { reveal(layout.range(of: index)) }
    return true
  }

  /// Unfolds whatever hides a comment.
  private mutating func unfold(to id: String, in comments: [Comment]) {
    folded.subtract(CommentThreads.ancestors(of: id, in: comments))
  }

  private mutating func refold() {
    if let allComments { update(comments: allComments) }
  }

  /// Hides the comments with a pending deletion.
  mutating func hide(_ ids: Set<String>) {
    guard ids != hidden else { return }
    hidden = ids
    if let allComments { update(comments: allComments) }
  }

  /// Folds the comments of these people.
  mutating func mute(_ people: Set<String>) {
    guard people != muted else { return }
    muted = people
    rebuild(width: layout.width)
  }

  /// Sets the read state; only the first call counts, so that the line of unread comments stays.
  mutating func noteRead(_ state: ReadState, me: String) {
    guard readBefore == nil else { return }
    readBefore = state
    self.me = me
    guard hasComments else { return }
    findFirstUnread()
    rebuild(width: layout.width)
  }

  /// Comments are ordered by key, so the first unread one is the first after the last read one.
  private mutating func findFirstUnread() {
    guard let readBefore else { return }
    let last = readBefore.lastComment(on: id)
    firstUnread =
      rows.lazy.map(\.comment).first { comment in
        guard comment.uid != me, !muted.contains(comment.uid) else { return false }
        if let last { return last.utf16.lexicographicallyPrecedes(comment.id.utf16) }
        return (comment.createdAt ?? 0) > readBefore.before
      }?.id
  }

  /// Selects the first unread comment; returns false if there is none.
  mutating func selectFirstUnread() -> Bool {
    if let firstUnread {
      unfold(to: firstUnread, in: rows.all)
      refold()
    }
    guard let firstUnread, let index = rows.index(of: firstUnread) else { return false }
    selection = firstUnread
    // The line above the comment is shown as well.
    reveal(layout.range(of: index).lowerBound - 1..<layout.range(of: index).upperBound)
    return true
  }

  /// Scrolls the user's new comment into view, immediately or as soon as it arrives.
  mutating func await(comment id: String) {
    guard let index = rows.index(of: id) else {
      awaited = id
      return
    }
    reveal(layout.range(of: index))
  }

  /// Scrolls to the end, but never so far that the selected comment leaves the view.
  private mutating func followEnd() {
    top = min(lastTop, selectedIndex.map { layout.range(of: $0).lowerBound } ?? lastTop)
  }

  private var isLastSelected: Bool { selection != nil && selection == rows.last?.comment.id }

  /// Gives the comment as many lines as it needs at a width, up to a limit.
  mutating func resizeField(width: Int, limit: Int) {
    field.resize(to: Size(width: width, height: fieldHeight))
    fieldHeight = max(1, field.height(upTo: limit))
    field.resize(to: Size(width: width, height: fieldHeight))
  }

  /// Sets the space for the text, and how the text is shown.
  mutating func resize(text: Size, source: PostLayout.SourceView) {
    capacity = max(1, text.height)
    if text.width != layout.width || source != self.source || layout.lineCount == 0 {
      self.source = source
      rebuild(width: text.width)
    }
    top = min(top, lastTop)
    if let index = selectedIndex { reveal(layout.range(of: index)) }
  }

  /// Rebuilds the lines and keeps the same comment, or the same line of the post, at the top.
  private mutating func rebuild(width: Int) {
    let anchor = layout.firstComment(from: top + 1) - 1
    let offset = anchor < 0 ? 0 : top - layout.range(of: anchor).lowerBound
    let anchorID = anchor < 0 ? nil : layout.rows.comment(at: anchor).id
    layout.update(
      post: post,
      comments: rows,
      firstUnread: firstUnread,
      muted: muted,
      source: source,
      width: width
    )
    if let index = anchorID.flatMap({ rows.index(of: $0) }) {
      // The topmost line may be the blank one after a comment.
      top = layout.range(of: index).lowerBound + min(offset, layout.range(of: index).count)
    }
    top = max(0, min(top, lastTop))
  }
}

// MARK: Moving

extension OpenPost {
  /// Moves through the lines and comments.
  mutating func move(_ motion: Motion) {
    switch motion {
    case .down: moveDown()
    case .up: moveUp()
    case .top: moveToTop()
    case .bottom: moveToBottom()
    case .halfPageDown, .halfPageUp, .pageDown, .pageUp:
      page(by: motion.target(from: 0, page: capacity, count: 0))
    }
  }

  /// Moves to the next comment, or scrolls by a line if none is in view.
  private mutating func moveDown() {
    guard let index = selectedIndex else {
      let first = layout.firstComment(from: top)
      if first < layout.firstComment(from: top + capacity) {
        select(first)
      } else {
        scroll(by: 1)
      }
      return
    }
    let range = layout.range(of: index)
    if range.upperBound > top + capacity {
      scroll(by: 1)
    } else if index + 1 < rows.count {
      select(index + 1)
    } else {
      scroll(by: 1)
    }
  }

  /// Moves to the previous comment, or scrolls back by a line if there is none.
  private mutating func moveUp() {
    guard let index = selectedIndex else { return scroll(by: -1) }
    if layout.range(of: index).lowerBound < top {
      scroll(by: -1)
    } else if index > 0 {
      select(index - 1)
    } else {
      selection = nil
      if top > 0 { scroll(by: -1) }
    }
  }

  /// Scrolls by the given number of lines; the selection follows into view.
  mutating func page(by count: Int) {
    scroll(by: count)
    keepSelectionInView(goingDown: count > 0)
  }

  /// Moves to the first line.
  private mutating func moveToTop() {
    selection = nil
    top = 0
  }

  /// Moves to the last line and the last comment.
  private mutating func moveToBottom() {
    selection = rows.last?.comment.id
    top = lastTop
  }

  /// Selects the comment under a line of the view, or the post itself.
  mutating func select(lineInView line: Int) {
    guard let index = layout.comment(at: top + line) else {
      selection = nil
      return
    }
    select(index)
  }

  private mutating func select(_ index: Int) {
    selection = rows.comment(at: index).id
    reveal(layout.range(of: index))
  }

  private mutating func scroll(by count: Int) {
    top = max(0, min(top + count, lastTop))
  }

  mutating func reveal(_ range: Range<Int>) {
    if range.upperBound > top + capacity { top = range.upperBound - capacity }
    if range.lowerBound < top { top = range.lowerBound }
    top = max(0, min(top, lastTop))
  }

  private mutating func keepSelectionInView(goingDown: Bool) {
    let visible = top..<(top + capacity)
    if let index = selectedIndex, layout.range(of: index).overlaps(visible) { return }
    let inView =
      layout.firstComment(from: top)..<layout.firstComment(from: visible.upperBound)
    let index = goingDown || selection != nil ? (goingDown ? inView.first : inView.last) : nil
    selection = index.map { rows.comment(at: $0).id }
  }
}
