package import BlogModel

/// An open post: its text, its comments and the line in which a comment is written.
package struct OpenPost: Equatable, Sendable {
  /// Whether the post is there: loading → present ⇄ gone.
  ///
  /// The typed comment is kept in every state.
  private enum State: Equatable {
    case loading
    case present(Post)
    /// It was deleted; this is its last known version.
    case gone(Post?)
  }

  package let id: PostID
  private var state = State.loading
  /// The comments, as far as they have arrived.
  package internal(set) var comments = OpenComments()
  /// The selected comment; nil if the post itself is selected.
  package internal(set) var selection: String?
  /// The comment to select as soon as it arrives, after the user has chosen a notice.
  var wanted: String?
  /// The user's new comment, to be scrolled into view as soon as it arrives.
  private var awaited: String?
  /// The lines of the screen, and which are in view.
  private(set) var view = PostView()
  package internal(set) var line: CommentLine
  var unread = UnreadComments()
  /// Who else is writing a comment.
  var typists: [Typist] = []

  /// Opens a post, with what the list already knows about it.
  init(id: PostID, known: Post?, comment: CommentDraft?) {
    self.id = id
    if let known { state = .present(known) }
    line = CommentLine(comment)
  }

  /// Shows a post before it is opened; what the layout has of its text is not wrapped again.
  init(preview post: Post, reusing layout: PostLayout) {
    self.init(id: post.id, known: post, comment: nil)
    view = PostView(reusing: layout)
  }

  /// Why nothing can be done with a post that is not there, and the key that leaves it; nil if it is
  /// there, or may be.
  func absence(leftWith key: String) -> String? {
    guard isGone else { return nil }
    return (post == nil ? "There is no post \(id)." : "This post was deleted.")
      + (line.hasDraft ? " What you typed stays here; " : " ") + "\(key) goes back."
  }

  /// The last known version of the post.
  package var post: Post? {
    switch state {
    case .loading: nil
    case .present(let post): post
    case .gone(let last): last
    }
  }

  var isGone: Bool { if case .gone = state { true } else { false } }

  /// Whether the post or its comments were refused.
  var isRefused = false

  /// Whether the post and its comments have arrived, or are known not to come.
  var isLoaded: Bool { isRefused || (comments.areLoaded && state != .loading) }

  /// The effect that requests the comment of a notice, if it is among those that are not here.
  func takeWishForEarlier() -> Effect? {
    guard let wanted, comments.isEarlier(wanted) else { return nil }
    return .request(.showEarlierComments(id))
  }

  /// Makes a new comment of an edit whose comment was deleted; returns whether there was one.
  mutating func endEditOfGoneComment() -> Bool {
    guard let id = line.editing?.id, comments.isGone(id) else { return false }
    line.endEdit()
    return !line.field.isEmpty
  }

  package var selectedIndex: Int? { selection.flatMap { comments.rows.index(of: $0) } }
  package var selectedComment: Comment? { selectedIndex.map { comments.rows.comment(at: $0) } }
  /// The number of comments that begin below the last visible line.
  package var commentsBelow: Int { comments.rows.count - view.firstCommentBelow }

  /// Updates the post; nil means that it was deleted.
  mutating func update(post new: Post?) {
    let before = post
    state = new.map { .present($0) } ?? .gone(before)
    if let new, new != before { rebuild() }
  }

  /// Updates the comments and keeps the reader's position.
  mutating func update(comments new: [Comment]) {
    let isFirst = !comments.areLoaded
    let isLastSelected = selection != nil && selection == comments.rows.last?.comment.id
    let follows =
      view.isAtEnd && !isFirst && (view.top > 0 || line.isWriting || isLastSelected)
    let neighbour = selectedIndex
    guard comments.update(new, unfoldingTo: [wanted, awaited]) else { return }
    let rows = comments.rows
    if let selection, rows.index(of: selection) == nil {
      // If the selected comment is folded away, its nearest visible ancestor is selected. If it is
      // gone, the next comment is selected, or otherwise the previous one.
      let index = min(neighbour ?? 0, rows.count - 1)
      let above = CommentThreads.ancestors(of: selection, in: rows.all)
      self.selection =
        above.first { rows.index(of: $0) != nil } ?? (index >= 0 ? rows.comment(at: index).id : nil)
    }
    if isFirst { unread.find(in: comments, on: id) }
    rebuild()
    if follows { view.followEnd(keeping: selectedIndex) }
    if let id = awaited, let index = rows.index(of: id) {
      awaited = nil
      view.reveal(comment: index)
    }
    if let id = wanted, let index = rows.index(of: id) {
      wanted = nil
      select(index)
    }
  }

  // MARK: Folding

  /// Hides the answers to the selected comment, or shows them again.
  ///
  /// If it has none, this applies to the comment that it answers. Returns false if there is nothing
  /// to hide.
  mutating func toggleFold() -> Bool {
    guard let index = selectedIndex, let id = comments.toggleFold(at: index) else { return false }
    selection = id
    refold()
    if let index = selectedIndex { view.reveal(comment: index) }
    return true
  }

  /// Hides all answers, or shows all if any are hidden; returns false if there are none.
  mutating func toggleFolds() -> Bool {
    guard comments.toggleFolds() else { return false }
    refold()
    if let index = selectedIndex { view.reveal(comment: index) }
    return true
  }

  private mutating func refold() {
    if let all = comments.all { update(comments: all) }
  }

  mutating func hide(_ ids: Set<String>) {
    guard ids != comments.hidden else { return }
    comments.hidden = ids
    refold()
  }

  /// Folds the comments of these people.
  mutating func mute(_ people: Set<String>) {
    guard people != comments.muted else { return }
    comments.muted = people
    rebuild()
  }

  /// Sets the read state; only the first call counts, so that the line of unread comments stays.
  mutating func noteRead(_ state: ReadState, me: String) {
    guard unread.begin(with: state, of: me), comments.areLoaded else { return }
    unread.find(in: comments, on: id)
    rebuild()
  }

  /// Selects the first unread comment; returns false if there is none.
  mutating func selectFirstUnread() -> Bool {
    guard let first = unread.first else { return false }
    comments.unfold(to: first, in: comments.rows.all)
    refold()
    guard let index = comments.rows.index(of: first) else { return false }
    selection = first
    // The line above the comment is shown as well.
    view.reveal(comment: index, above: 1)
    return true
  }

  /// Scrolls the user's new comment into view, immediately or as soon as it arrives.
  mutating func await(comment id: String) {
    guard let index = comments.rows.index(of: id) else {
      awaited = id
      return
    }
    view.reveal(comment: index)
  }

  /// Sets the space for the text, and how the text is shown.
  mutating func resize(text: Size, source: PostLayout.SourceView) {
    if view.resize(to: text, source: source) { rebuild() }
    view.scroll(by: 0)
    if let index = selectedIndex { view.reveal(comment: index) }
  }

  private mutating func rebuild() {
    view.rebuild(post: post, comments: comments, firstUnread: unread.first)
  }
}

// MARK: Moving

extension OpenPost {
  mutating func move(_ motion: Motion) {
    switch motion {
    case .down: moveDown()
    case .up: moveUp()
    case .top:
      selection = nil
      view.scroll(to: 0)
    case .bottom:
      selection = comments.rows.last?.comment.id
      view.scroll(to: .max)
    case .halfPageDown, .halfPageUp, .pageDown, .pageUp:
      page(by: motion.target(from: 0, page: view.capacity, count: 0))
    }
  }

  /// Moves to the next comment, or scrolls by a line if none is in view.
  private mutating func moveDown() {
    guard let index = selectedIndex else {
      if let first = view.commentsInView.first { select(first) } else { view.scroll(by: 1) }
      return
    }
    if view.layout.range(of: index).upperBound > view.bottom || index + 1 >= comments.rows.count {
      view.scroll(by: 1)
    } else {
      select(index + 1)
    }
  }

  /// Moves to the previous comment, or scrolls back by a line if there is none.
  private mutating func moveUp() {
    guard let index = selectedIndex else { return view.scroll(by: -1) }
    if view.layout.range(of: index).lowerBound < view.top {
      view.scroll(by: -1)
    } else if index > 0 {
      select(index - 1)
    } else {
      selection = nil
      view.scroll(by: -1)
    }
  }

  /// Scrolls by the given number of lines; the selection follows into view.
  mutating func page(by count: Int) {
    view.scroll(by: count)
    keepSelectionInView(goingDown: count > 0)
  }

  /// Selects the comment under a line of the view, or the post itself.
  mutating func select(lineInView line: Int) {
    guard let index = view.layout.comment(at: view.top + line) else {
      selection = nil
      return
    }
    select(index)
  }

  private mutating func select(_ index: Int) {
    selection = comments.rows.comment(at: index).id
    view.reveal(comment: index)
  }

  private mutating func keepSelectionInView(goingDown: Bool) {
    if let index = selectedIndex, view.layout.range(of: index).overlaps(view.top..<view.bottom) {
      return
    }
    let inView = view.commentsInView
    let index = goingDown ? inView.first : selection == nil ? nil : inView.last
    selection = index.map { comments.rows.comment(at: $0).id }
  }
}

// MARK: Parts

/// The comments of an open post, as far as they have arrived, and which of them are shown.
package struct OpenComments: Equatable, Sendable {
  /// All comments in the database, including those about to be deleted; nil until they arrive.
  private(set) var all: [Comment]?
  /// The visible comments, each followed by its answers.
  private(set) var rows = CommentThreads()
  /// The comments whose answers are hidden.
  private var folded: Set<String> = []
  /// The comments with a pending deletion.
  var hidden: Set<String> = []
  /// The people of whose comments only the headings are shown.
  var muted: Set<String> = []
  /// Whether there are comments before those that are here.
  var hasEarlier = false

  var areLoaded: Bool { all != nil }
  /// The number of comments, including folded ones; nil until they arrive.
  var count: Int? { areLoaded ? rows.all.count : nil }
  /// The key of the newest comment, including folded ones.
  var newest: String? { rows.all.last?.id }
  /// The visible comments, each followed by its answers; nil until they arrive.
  package var visible: [Comment]? { areLoaded ? rows.comments : nil }

  /// The visible comment with a key.
  func comment(_ id: String) -> Comment? { rows.index(of: id).map { rows.comment(at: $0) } }

  /// The text of a comment, which may be hidden; nil if it is not here.
  func text(of id: String) -> String? { all?.first { $0.id == id }?.text }

  /// Whether a comment may be among those that are not here.
  func isEarlier(_ id: String) -> Bool {
    guard hasEarlier, let first = all?.first?.id else { return false }
    return id.utf16.lexicographicallyPrecedes(first.utf16)
  }

  func isGone(_ id: String) -> Bool {
    guard let all, !all.contains(where: { $0.id == id }) else { return false }
    return !isEarlier(id)
  }

  /// Adopts the comments, unfolds what hides some of them, and returns whether others are visible
  /// now, or any for the first time.
  mutating func update(_ new: [Comment], unfoldingTo ids: [String?]) -> Bool {
    let isFirst = all == nil
    all = new
    let present = present(of: new)
    for case let id? in ids { unfold(to: id, in: present) }
    let shown = CommentThreads.rows(of: present, folded: folded)
    guard isFirst || shown != rows else { return false }
    rows = shown
    return true
  }

  /// The comments that are not about to be deleted, each once; without a copy if that is all.
  private func present(of comments: [Comment]) -> [Comment] {
    let isAscending = zip(comments, comments.dropFirst()).allSatisfy { $0.key < $1.key }
    if hidden.isEmpty, isAscending { return comments }
    var keys = Set(hidden.map(Comment.Key.init))
    return comments.filter { keys.insert($0.key).inserted }
  }

  /// Unfolds whatever hides a comment.
  mutating func unfold(to id: String, in comments: [Comment]) {
    folded.subtract(CommentThreads.ancestors(of: id, in: comments))
  }

  /// Folds or unfolds a comment or the one that it answers, and returns its key.
  mutating func toggleFold(at index: Int) -> String? {
    let row = rows[index]
    let above = CommentThreads.ancestors(of: row.comment.id, in: rows.all)
    guard let id = row.answers > 0 ? row.comment.id : above.first else { return nil }
    if folded.remove(id) == nil { folded.insert(id) }
    return id
  }

  /// Folds all comments with answers, or unfolds all; returns false if there are none.
  mutating func toggleFolds() -> Bool {
    guard !folded.isEmpty || rows.contains(where: { $0.answers > 0 }) else { return false }
    folded =
      folded.isEmpty ? Set(rows.filter { $0.answers > 0 && $0.depth == 0 }.map(\.comment.id)) : []
    return true
  }
}

/// The lines of an open post, and which of them are in view.
struct PostView: Equatable, Sendable {
  private(set) var layout: PostLayout
  /// The number of lines above the first visible one.
  private(set) var top = 0
  /// The number of lines in view.
  private(set) var capacity = 1
  /// How the texts are shown, and how wide.
  private var source = PostLayout.SourceView.raw
  private var width = 0

  /// Makes a view whose lines are made anew, except those that the layout has already.
  init(reusing layout: PostLayout = PostLayout()) { self.layout = layout }

  /// The number of lines up to the last one for which there is room.
  var bottom: Int { top + capacity }
  var visibleRange: Range<Int> { top..<min(layout.lineCount, bottom) }
  var commentsInView: Range<Int> { layout.firstComment(from: top)..<firstCommentBelow }
  /// The first comment that begins below the view.
  var firstCommentBelow: Int { layout.firstComment(from: bottom) }
  /// Whether the end of the text is in view.
  var isAtEnd: Bool { bottom >= layout.contentCount }
  private var lastTop: Int { max(0, layout.contentCount - capacity) }

  /// Scrolls by the given number of lines, as far as there are any.
  mutating func scroll(by count: Int) { scroll(to: top + count) }

  /// Scrolls to a line, as far as there are any.
  mutating func scroll(to line: Int) { top = max(0, min(line, lastTop)) }

  /// Scrolls to the end, but never so far that the selected comment leaves the view.
  mutating func followEnd(keeping index: Int?) {
    top = min(lastTop, index.map { layout.range(of: $0).lowerBound } ?? lastTop)
  }

  /// Scrolls as little as shows a comment, and some lines above it.
  mutating func reveal(comment index: Int, above: Int = 0) {
    let range = layout.range(of: index)
    if range.upperBound > bottom { top = range.upperBound - capacity }
    scroll(to: min(top, range.lowerBound - above))
  }

  /// Sets the space and how texts are shown, and returns whether the lines have to be made anew.
  mutating func resize(to size: Size, source: PostLayout.SourceView) -> Bool {
    capacity = max(1, size.height)
    let isCurrent = size.width == width && source == self.source && layout.lineCount > 0
    (width, self.source) = (size.width, source)
    return !isCurrent
  }

  /// Rebuilds the lines and keeps the same comment, or the same line of the post, at the top.
  mutating func rebuild(post: Post?, comments: OpenComments, firstUnread: String?) {
    let anchor = layout.firstComment(from: top + 1) - 1
    let offset = anchor < 0 ? 0 : top - layout.range(of: anchor).lowerBound
    let anchorID = anchor < 0 ? nil : layout.rows.comment(at: anchor).id
    layout.update(
      post: post,
      comments: comments.rows,
      firstUnread: firstUnread,
      muted: comments.muted,
      source: source,
      width: width
    )
    if let index = anchorID.flatMap({ comments.rows.index(of: $0) }) {
      // The topmost line may be the blank one after a comment.
      top = layout.range(of: index).lowerBound + min(offset, layout.range(of: index).count)
    }
    scroll(by: 0)
  }
}

package struct CommentLine: Equatable, Sendable {
  /// What becomes of the text.
  private enum Target: Equatable {
    case comment
    case answer(to: Comment)
    case edit(of: Comment)
  }

  package internal(set) var field: TextArea
  /// What completes the word at its cursor.
  var completer = Completer()
  /// Whether keys are typed into it.
  package internal(set) var isWriting = false
  /// The number of lines that it takes on the screen.
  private(set) var height = 1
  private var target = Target.comment
  /// The texts from elsewhere that the user knows of: sending the edit again overwrites them.
  var overwrites: [String] = []

  /// Makes a line with a draft, or an empty one.
  init(_ draft: CommentDraft?) {
    field = TextArea(text: draft?.text ?? "", limit: EditorLimit.characters)
    aim(at: draft)
  }

  var answered: Comment? { if case .answer(let comment) = target { comment } else { nil } }
  var editing: Comment? { if case .edit(let comment) = target { comment } else { nil } }
  var draft: CommentDraft { CommentDraft(field.text, answering: answered, editing: editing) }
  /// Whether it has something that was typed and not sent.
  var hasDraft: Bool { !field.isEmpty && editing?.text != field.text }
  /// Whether others could see anything of it.
  var showsText: Bool { field.lines.contains { $0.contains { !String($0).isBlank } } }

  /// Adopts a draft, or becomes empty.
  mutating func take(_ draft: CommentDraft?) {
    field.setText(draft?.text ?? "")
    aim(at: draft)
  }

  private mutating func aim(at draft: CommentDraft?) {
    overwrites = []
    let answer = draft?.answered.map { Target.answer(to: $0) }
    target = draft?.editing.map { .edit(of: $0) } ?? answer ?? .comment
  }

  /// Begins to answer a comment, or to comment on the post; an edit stays one.
  mutating func begin(answering comment: Comment?) {
    if editing == nil { target = comment.map { .answer(to: $0) } ?? .comment }
    isWriting = true
  }

  /// Begins to write; what is empty is a comment on the post.
  mutating func begin() {
    forgetAnswerIfEmpty()
    isWriting = true
  }

  /// Returns to reading.
  mutating func leave() {
    isWriting = false
    forgetAnswerIfEmpty()
  }

  private mutating func forgetAnswerIfEmpty() {
    if field.isEmpty, editing == nil { target = .comment }
  }

  /// Makes a new comment of the edit.
  mutating func endEdit() { target = .comment }

  /// Takes as many lines as it needs at a width, up to a limit.
  mutating func resize(width: Int, limit: Int) {
    field.resize(to: Size(width: width, height: height))
    height = max(1, field.height(upTo: limit))
    field.resize(to: Size(width: width, height: height))
  }
}

/// What was unread when a post was opened.
struct UnreadComments: Equatable, Sendable {
  private struct Reader: Equatable {
    let uid: String
    let state: ReadState
  }

  /// The read state when the post was opened; nil until it is known.
  private var reader: Reader?
  /// The first comment that was unread; the line above it does not move.
  private(set) var first: String?
  /// Whether the post was marked as unread while open; viewing it then does not mark it as read.
  var stays = false

  /// Sets the read state; returns false if it is set already.
  mutating func begin(with state: ReadState, of uid: String) -> Bool {
    guard reader == nil else { return false }
    reader = Reader(uid: uid, state: state)
    return true
  }

  /// Comments are ordered by key, so the first unread one is the first after the last read one.
  mutating func find(in comments: OpenComments, on post: PostID) {
    guard let reader else { return }
    let last = reader.state.lastComment(on: post)
    first =
      comments.rows.lazy.map(\.comment).first { comment in
        guard comment.uid != reader.uid, !comments.muted.contains(comment.uid) else { return false }
        if let last { return last.utf16.lexicographicallyPrecedes(comment.id.utf16) }
        return (comment.createdAt ?? 0) > reader.state.before
      }?.id
  }
}
