package import BlogModel

/// Something the user did that can be undone.
package enum Change: Hashable, Sendable {
  /// The blog was changed; the second action changes it back, and the message says so.
  case written(BlogAction, undo: BlogAction, message: String)
  /// Posts were marked as read or unread; the message says that they no longer are.
  case marked(from: ReadState, to: ReadState, message: String)
  /// The notices behind this key were cleared and marked as read.
  case notices(after: String, from: ReadState?, to: ReadState?)
  /// A draft was thrown away.
  case discarded(Unsent.Item)
  /// Something is about to be deleted.
  case deletion(BlogAction)
  /// Something that cannot be undone, as the message says.
  case permanent(String)
}

/// A deletion that can still be undone for a short time.
package struct Deletion: Hashable, Sendable {
  /// How long the deletion can be undone, in milliseconds.
  package static let delay: Int64 = 5_000
  /// What the screen says meanwhile.
  static func announcement(undoneBy key: String) -> Message {
    .note("Deleting in \(delay / 1_000) s; \(key) undoes")
  }

  package let action: BlogAction
  /// When the deletion is sent, in milliseconds since 1970.
  package let deadline: Int64
  /// Whether the deletion was sent; the item stays hidden until the response arrives.
  package internal(set) var isSent = false

  var id: String { action.key ?? "" }
}

/// What the user writes: what is not sent, on its way or stored, and what can be undone.
package struct Writing: Sendable {
  /// How many changes can be undone.
  private static let limit = 100

  /// What was not sent or was refused, apart from what is being typed.
  var unsent: Unsent
  /// Why what was typed cannot be saved; nil if it can.
  var keepProblem: String?
  /// The delivery state, by the key of the post or comment.
  private(set) var deliveries: [String: Delivery] = [:]
  /// What has been stored: a list goes on calling it pending, as it was when it arrived.
  private(set) var stored: Set<String> = []
  /// The stars that were given or removed here and that the database has not acknowledged.
  private(set) var starIntents: [PostID: Bool] = [:]
  package private(set) var pendingWrites = 0
  /// The changes that can be undone, and those of which that is to be said, oldest first.
  package private(set) var undoable: [Change] = []
  private(set) var deletions: [Deletion] = []

  init(unsent: Unsent) { self.unsent = unsent }

  /// The keys of all items with a pending deletion.
  var hidden: Set<String> { Set(deletions.map(\.id)) }

  /// When a pending deletion is sent or the symbol of a stored change expires.
  var times: [Int64] {
    deletions.filter { !$0.isSent }.map(\.deadline)
      + deliveries.values.compactMap { delivery in
        if case .acknowledged(let at) = delivery { at + Delivery.showsFor } else { nil }
      }
  }

  /// Records a change; the last one is undone first.
  mutating func add(_ change: Change) {
    undoable.append(change)
    if undoable.count > Self.limit { undoable.removeFirst() }
  }

  /// Removes the last change, to undo it; a deletion is no longer pending then.
  mutating func takeLast() -> Change? {
    let change = undoable.popLast()
    if case .deletion(let action)? = change { deletions.removeAll { $0.action == action } }
    return change
  }

  /// Removes a change that was refused, and returns what would have undone it.
  mutating func forget(_ action: BlogAction) -> BlogAction? {
    for (index, change) in undoable.enumerated().reversed() {
      guard case .written(action, let undo, _) = change else { continue }
      undoable.remove(at: index)
      return undo
    }
    return nil
  }

  mutating func delete(_ action: BlogAction, at now: Int64) {
    deletions.append(Deletion(action: action, deadline: now + Deletion.delay))
    add(.deletion(action))
  }

  /// Carries out the deletions that can no longer be undone.
  mutating func carryOutDeletions(until time: Int64) -> [Effect] {
    var effects: [Effect] = []
    for (index, deletion) in deletions.enumerated() {
      // A clock that was set back by more than a little is no reason to wait.
      let rest = deletion.deadline - time
      guard !deletion.isSent, !(1...2 * Deletion.delay ~= rest) else { continue }
      deletions[index].isSent = true
      forgetChanges(ofWhatEnds: deletion.action)
      if let index = undoable.lastIndex(of: .deletion(deletion.action)) {
        undoable[index] = .permanent("The deletion can no longer be undone")
      }
      effects.append(.write(deletion.action))
    }
    return effects
  }

  /// Removes the changes of what is deleted: there is nothing left to change back.
  private mutating func forgetChanges(ofWhatEnds deletion: BlogAction) {
    undoable.removeAll { change in
      guard case .written(let action, _, _) = change else { return false }
      return deletion.comment == nil
        ? action.post == deletion.post : action.comment == deletion.comment
    }
  }

  mutating func begin(_ action: BlogAction, isOnline: Bool) {
    if case .star(let id, let isStarred) = action { starIntents[id] = isStarred }
    if let key = action.key { begin(key, isOnline: isOnline) }
  }

  /// Notes that a change to a post or comment is on its way.
  mutating func begin(_ key: String, isOnline: Bool) {
    deliveries[key] = isOnline ? .sent : .local
  }

  /// Notes the outcome of a write: a deletion ends, a star is no longer pending.
  mutating func end(_ action: BlogAction, succeeded: Bool, at now: Int64) {
    guard let id = action.key else { return }
    if action.isDeletion {
      deletions.removeAll { $0.isSent && $0.id == id }
      if succeeded { return }
    }
    if case .star(_, let isStarred) = action {
      // The star was toggled again in the meantime: that write will tell.
      if let intent = starIntents[id], intent != isStarred { return }
      starIntents[id] = nil
    }
    deliveries[id] = succeeded ? .acknowledged(at: now) : .refused
    if succeeded { stored.insert(id) }
  }

  /// Notes how many writes are not acknowledged; without any, those of the last run are stored, too.
  mutating func note(pendingWrites count: Int, of shown: Set<PostID>) {
    pendingWrites = max(0, count)
    if pendingWrites == 0 { stored.formUnion(shown) }
  }

  /// Updates the changes in progress for a new state of the connection.
  mutating func connectionBecame(online isOnline: Bool) {
    for (id, delivery) in deliveries {
      switch delivery {
      case .local, .sent: begin(id, isOnline: isOnline)
      case .acknowledged, .refused: break
      }
    }
  }

  /// Removes the symbols that have expired.
  mutating func expire(at now: Int64) {
    for (id, delivery) in deliveries where delivery.isOver(now: now) { deliveries[id] = nil }
  }
}

// MARK: Undoing

extension Model {
  mutating func undo() -> [Effect] {
    guard let change = session.writing.takeLast() else { return [] }
    switch change {
    case .written(let action, let undo, let message):
      switch loses(action, toUndo: undo) {
      case true?:
        session.message = .failure(
          "Too late to undo \(action.name): it was changed again or deleted since."
        )
        return []
      case false?:
        session.message = .note(message)
        return session.perform(undo)
      case nil:
        session.writing.add(change)
        let what = action.comment == nil ? "post" : "comment"
        let key = session.key("undo", in: .post)
        session.message = .notDone(
          "Press \(key) again once the \(what) is here, to undo \(action.name)."
        )
        guard let id = action.post else { return [] }
        let effects = openPost?.id == id ? [] : closePost() + open(id)
        if let id = action.comment, openPost?.id == action.post { openPost?.wanted = id }
        return effects + (openPost?.takeWishForEarlier().map { [$0] } ?? [])
      }
    case .marked(let old, let new, let message):
      let effects = restore(old, from: new)
      session.message =
        effects.isEmpty
        ? .notDone("Not undone: it was marked again since") : .note(message)
      return effects
    case .notices(let key, let old, let new):
      session.message = .note("The notices are back")
      return restore(old, from: new) + [.mark(.clearNotices(upTo: key))]
    case .discarded(let draft):
      session.writing.unsent.keep(draft)
      let isPost = if case .post = draft { true } else { false }
      let way = isPost ? session.key(.compose) + " opens" : session.key("drafts") + " lists"
      return session.answer(.note("The draft is back; " + way + " it"))
    case .deletion(let action):
      session.refilter()
      if let id = action.comment, openPost?.id == action.post { openPost?.wanted = id }
      hideDeleted()
      if case .deletePost(let id) = action { session.feed.list.select(id) }
      return session.answer(.note("Not deleted"))
    case .permanent(let message):
      return session.answer(.notDone(message))
    }
  }

  /// Whether undoing an action would lose what was written since; nil if that is not known here.
  private func loses(_ action: BlogAction, toUndo undo: BlogAction) -> Bool? {
    let both = (action, undo)
    if case (.edit(let id, let title, let body), .edit(_, let oldTitle, let oldBody)) = both {
      if openPost?.id == id, openPost?.isGone == true { return true }
      // Of a post that only a search has found, nothing tells that it changes.
      if openPost?.id != id, session.feed.foundOnly(id) != nil { return nil }
      return knownPost(id).map { post in
        post.title.isLost(to: oldTitle, knowing: [title])
          || post.body.isLost(to: oldBody, knowing: [body])
      }
    }
    if case (.editComment(let id, let key, let text), .editComment(_, _, let old)) = both {
      guard let open = openPost, open.id == id else { return nil }
      if open.isGone || open.comments.isGone(key) { return true }
      return open.comments.text(of: key)?.isLost(to: old, knowing: [text])
    }
    if case (.saveSearch(let slot, let name, let text), .saveSearch(_, _, let old)) = both {
      let search = session.reading.lists.searches.first { $0.slot == slot }
      return search.map { $0.name != name || ![text, old].contains($0.text) } ?? false
    }
    if case (.rename(let name), .rename(let old)) = both {
      return ![name, old].contains(session.me.name)
    }
    return false
  }

  private mutating func restore(_ old: ReadState?, from new: ReadState?) -> [Effect] {
    guard let old, let new else { return [] }
    let effects = session.reading.marks.restore(old, from: new)
    if let id = openPost?.id, let state = session.reading.marks.state {
      openPost?.unread.stays = state.marks[id] == .unread
    }
    noteReadState()
    return effects
  }

  // MARK: Deleting

  /// Hides an item of the user's immediately and schedules its deletion, so that it can be undone.
  mutating func delete(_ action: BlogAction) {
    session.writing.delete(action, at: session.now)
    session.refilter()
    hideDeleted()
    session.message = Deletion.announcement(undoneBy: session.key("undo"))
  }

  /// Hides the comments with a pending deletion, and shows all others.
  mutating func hideDeleted() {
    stack[OpenPost.self]?.hide(session.writing.hidden)
  }

  // MARK: Changing

  /// Opens the user's own post or comment for editing.
  mutating func edit() -> [Effect] {
    if let comment = openPost?.selectedComment {
      edit(comment)
      return []
    }
    guard let post = currentPost else { return [] }
    let draft = Draft(title: post.title, body: post.body, editing: post)
    // Of a post that only a search has found, nothing else would tell that it changes.
    if session.feed.foundOnly(post.id) != nil { return compose(draft) }
    composer = Composer(draft)
    relayout()
    return []
  }

  private mutating func edit(_ comment: Comment) {
    guard let open = openPost else { return }
    if open.line.hasDraft {
      session.writing.unsent.keep(open.line.draft, on: open.id)
    }
    openPost?.line.take(CommentDraft(comment.text, editing: comment))
    openPost?.line.isWriting = true
    relayout()
  }

  /// Keeps the form open if sending it would overwrite what was changed elsewhere meanwhile, and says
  /// so; sending it again overwrites that.
  mutating func holdsBack(_ form: Composer) -> Bool {
    guard let post = form.editing, isPresent(post.id) else { return false }
    guard let present = knownPost(post.id) else {
      hold("The post is not here yet; send again once it is.")
      return true
    }
    let (title, body) = form.changes(to: post)
    let isTitleLost = present.title.isLost(to: title, knowing: [post.title] + form.overwrites)
    let isBodyLost = present.body.isLost(to: body, knowing: [post.body] + form.overwrites)
    guard isTitleLost || isBodyLost else { return false }
    if isTitleLost { composer?.overwrites.append(present.title) }
    if isBodyLost { composer?.overwrites.append(present.body) }
    let what = isTitleLost ? isBodyLost ? "title and the text were" : "title was" : "text was"
    hold("The \(what) changed elsewhere meanwhile; send again to overwrite that.")
    return true
  }

  /// Keeps the form open, and says why.
  private mutating func hold(_ problem: String) {
    composer?.problem = SafeText(untrusted: problem)
    explain(problem)
  }

  /// Sends the changed fields of a post.
  mutating func sendEdit(of post: Post, _ form: Composer) -> [Effect] {
    let (title, body) = form.changes(to: post)
    guard title != nil || body != nil else { return session.answer(.notDone("Nothing changed")) }
    guard isPresent(post.id) else {
      session.writing.unsent.keep(Draft(title: title ?? post.title, body: body ?? post.body))
      let key = session.key(.compose)
      let text = "This post was deleted in the meantime. Your text is a draft; \(key) opens it."
      return session.answer(.failure(text))
    }
    let present = knownPost(post.id) ?? post
    let undo = BlogAction.edit(
      post.id,
      title: title.map { _ in present.title },
      body: body.map { _ in present.body }
    )
    let edit = BlogAction.edit(post.id, title: title, body: body)
    session.writing.add(.written(edit, undo: undo, message: "The post is restored"))
    session.message = session.changed("The post")
    return session.perform(edit)
  }

  /// Whether a post still exists, as far as this terminal knows.
  private func isPresent(_ id: PostID) -> Bool {
    if let openPost, openPost.id == id { return !openPost.isGone }
    return knownPost(id) != nil
  }
}

extension String {
  /// Whether writing a new text in place of this one would lose what its writer does not know of.
  func isLost(to new: String?, knowing known: [String?]) -> Bool {
    guard let new, new != self else { return false }
    return !known.contains(self)
  }
}

extension Session {
  /// The latest time that is accepted, in milliseconds since 1970.
  private static let latestTime: Int64 = 1 << 53

  /// Advances the clock: delivery symbols expire, and due deletions are carried out.
  mutating func pass(to time: Int64) -> [Effect] {
    // Clamped, so that no arithmetic with times can overflow.
    now = max(-Self.latestTime, min(time, Self.latestTime))
    writing.expire(at: now)
    reading.arrivals.rest(at: now)
    let deletions = writing.carryOutDeletions(until: now)
    if message == Deletion.announcement(undoneBy: key("undo")),
      writing.deletions.allSatisfy(\.isSent)
    {
      message = .note("Deleted")
    }
    return deletions
  }

  /// Sends the changed comment, in place of its present text.
  mutating func sendEdit(
    of comment: Comment,
    on post: PostID,
    text: String,
    replacing present: String
  ) -> [Effect] {
    guard text != comment.text else { return answer(.notDone("Nothing changed")) }
    let undo = BlogAction.editComment(post, commentID: comment.id, text: present)
    let edit = BlogAction.editComment(post, commentID: comment.id, text: text)
    writing.add(.written(edit, undo: undo, message: "The comment is restored"))
    message = changed("The comment")
    return perform(edit)
  }

  /// Says that something is changed; until the server answers, nobody knows what the change
  /// replaces there.
  fileprivate func changed(_ what: String) -> Message {
    let isHeard = connection.state == .online && connection.silence == nil
    return .note(
      isHeard
        ? "\(what) is changed; \(key("undo")) undoes"
        : "Changed here; sent later, it overwrites changes made elsewhere; \(key("undo")) undoes"
    )
  }

  /// Toggles the user's star; toggling twice restores it even before the first write is
  /// acknowledged.
  mutating func star(_ post: Post) -> [Effect] {
    let isStarred = !(writing.starIntents[post.id] ?? post.stars.contains(me.uid))
    if var found = feed.foundOnly(post.id), found.stars.contains(me.uid) != isStarred {
      found.starCount += isStarred ? 1 : -1
      if isStarred { found.stars.insert(me.uid) } else { found.stars.remove(me.uid) }
      if feed.updateFound(post.id, to: found) { refilter() }
    }
    let message = isStarred ? "The star is removed" : "The star is back"
    let star = BlogAction.star(post.id, isStarred)
    writing.add(.written(star, undo: .star(post.id, !isStarred), message: message))
    return perform(star)
  }

  /// Starts a write, and shows that it is on its way.
  mutating func perform(_ action: BlogAction) -> [Effect] {
    writing.begin(action, isOnline: connection.state == .online)
    return [.write(action)]
  }
}

// MARK: Deliveries

/// The delivery state of a change that the user made.
package enum Delivery: Hashable, Sendable {
  /// Recorded locally; there is no connection.
  case local
  /// On its way to the server.
  case sent
  /// Stored by the server, at that time in milliseconds since 1970.
  case acknowledged(at: Int64)
  case refused

  /// How long the symbol of a stored change stays visible, in milliseconds.
  static let showsFor: Int64 = 5_000

  /// Whether its symbol is no longer shown.
  func isOver(now: Int64) -> Bool {
    switch self {
    case .acknowledged(let at): !(at..<at + Self.showsFor ~= now)
    case .local, .sent, .refused: false
    }
  }

  /// The symbol: recorded locally, on its way, stored, refused.
  func sign(_ glyphs: GlyphSet) -> SafeText {
    switch self {
    case .local: glyphs.repertoire == .ascii ? "~" : "·"
    case .sent: glyphs.pending
    case .acknowledged: glyphs.check
    case .refused: glyphs.cross
    }
  }

  /// The style of that symbol, which only repeats its meaning.
  func style(_ theme: Theme) -> Style {
    switch self {
    case .local, .sent: theme.waiting
    case .acknowledged: theme.good
    case .refused: theme.bad
    }
  }
}

extension Session {
  /// The delivery state of the user's last change to a post or comment.
  func delivery(of id: String) -> Delivery? {
    if let delivery = writing.deliveries[id] { return delivery.isOver(now: now) ? nil : delivery }
    guard writing.pendingWrites > 0, feed.extent.pending.contains(id),
      !writing.stored.contains(id)
    else { return nil }
    return connection.state == .online ? .sent : .local
  }
}
