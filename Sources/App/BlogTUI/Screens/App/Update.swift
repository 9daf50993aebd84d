package import BlogModel

/// Something that happened and may change the screen.
package enum Event: Equatable, Sendable, Codable {
  /// The program started.
  case started
  /// The user pressed a key or used the mouse, or the terminal has a new size.
  case key(KeyEvent)
  /// Something happened to the blog.
  case blog(BlogEvent)
  /// The current time, in milliseconds since 1970 by the server's clock.
  case tick(now: Int64)
  /// The key of the post that an ``Effect/post(title:body:)`` created.
  case posted(PostID)
  /// The key of the comment that an ``Effect/comment(_:text:answering:)`` created.
  case commented(PostID, commentID: String)
  /// The process continues after it was stopped.
  case resumed
  /// The draft of an ``Effect/editExternally(_:)`` as the editor has left it.
  case edited(Draft)
  /// The text of an ``Effect/editTextExternally(_:on:)`` as the editor has left it.
  case editedText(String)
  /// What was typed was saved again after it could not be; or why it cannot be saved.
  case kept(problem: String?)
  /// An operation outside the program succeeded; the text says what.
  case succeeded(String)
  /// An operation outside the program failed; the text says what, why and what to do.
  case failed(String)
  /// The configuration was read, again or for the first time.
  case configured(Configuration)
  /// Events on the wire.
  case wire([WireEvent])
  /// A command to run, as if it had been typed.
  case command(String)
}

/// Work for the program outside the model, in response to an event.
package enum Effect: Hashable, Sendable {
  /// Follow a list.
  case follow(FeedKind)
  /// Stop following a list.
  case stopFollowing(FeedKind)
  /// Tell the blog the reader's position in a list.
  case read(FeedKind, at: PostID)
  /// Go to the beginning of a list.
  case showFirst(FeedKind)
  /// Search a whole list; ``BlogEvent/found(_:)`` reports the progress.
  case search(SearchRequest)
  /// End the search.
  case stopSearching
  /// Follow a post and its comments.
  case open(PostID)
  /// Show twice as many of the newest comments on the open post.
  case showEarlierComments(PostID)
  /// Stop following a post and its comments.
  case close(PostID)
  /// Write a post, and report its key with ``Event/posted(_:)``.
  case post(title: String, body: String)
  /// Write a comment, or an answer to one; ``Event/commented(_:commentID:)`` reports its key.
  case comment(PostID, text: String, answering: Comment? = nil)
  /// Star (true) or unstar (false) a post.
  case star(PostID, Bool)
  /// Change one of the user's posts.
  case edit(PostID, title: String, body: String)
  /// Change one of the user's comments.
  case editComment(PostID, commentID: String, text: String)
  /// Report the newest comments on these posts, and on no others.
  case watchComments([PostID])
  /// Record that a post was read, or that it is to be read again.
  case mark(PostID, ReadState.Mark)
  /// Mark everything up to now as read.
  case markAllRead
  /// Record what was read before everything was marked as read.
  case restoreRead(ReadState)
  /// Record how many stars on the user's posts the user has seen.
  case markStars([PostID: Int])
  /// Take the notices up to a key out of the list for good.
  case clearNotices(upTo: String)
  /// Tell others whether the user is writing a comment.
  case typing(PostID, Bool)
  /// Start or stop notices of what others do that concerns the user.
  case hearNotices(Bool)
  /// Follow (true) or unfollow (false) a person.
  case followAuthor(uid: String, Bool)
  /// Notify the user, who may be looking elsewhere.
  case notify(String)
  /// Delete one of the user's posts.
  case deletePost(PostID)
  /// Delete one of the user's comments.
  case deleteComment(PostID, commentID: String)
  /// Draw every cell again.
  case redraw
  /// Stop the process, as the suspend key does.
  case suspend
  /// Ring the bell of the terminal.
  case bell
  /// Leave.
  case quit
  /// Leave in order to switch accounts.
  case changeAccount
  /// Open a draft in the user's editor; ``Event/edited(_:)`` brings it back.
  case editExternally(Draft)
  /// Open a comment on a post in the user's editor; ``Event/editedText(_:)`` brings it back.
  case editTextExternally(CommentDraft, on: PostID)
  /// Copy a text to the clipboard of the terminal.
  case copy(String)
  /// Open a link in the user's browser.
  case openLink(String)
  /// Write a text to a file.
  case write(String, file: String)
  /// Save the history of the command line.
  case keepHistory([String])
  /// Save a value in the configuration file.
  case keepSetting(Setting, SettingValue)
  /// Apply the settings to the terminal.
  case configureTerminal(Settings)
  /// Connect to the database (true), or disconnect and stay disconnected (false).
  case network(Bool)
  /// Start or stop watching the wire.
  case watchWire(Bool)
}

/// Updates the model for an event, and returns the work to be done outside it.
///
/// - Parameters:
///   - model: What is on the screen.
///   - event: What happened.
/// - Returns: What the program has to do, in order.
package func update(_ model: inout Model, with event: Event) -> [Effect] {
  handle(event, in: &model) + model.session.hearNotices() + model.watchComments()
    + model.session.searchRest()
}

private func handle(_ event: Event, in model: inout Model) -> [Effect] {
  switch event {
  case .started:
    return model.session.select(tab: model.session.tab)
  case .key(let key):
    return model.handle(key)
  case .blog(let event):
    return model.handle(event)
  case .tick(let now):
    return model.session.pass(to: now)
  case .posted(let id):
    return model.session.showPosted(id)
  case .commented(let id, let comment):
    if model.openPost?.id == id { model.openPost?.await(comment: comment) }
    return []
  case .resumed:
    return [.redraw]
  case .edited(let draft):
    model.takeEdited(draft)
    return []
  case .editedText(let text):
    model.takeEdited(text)
    return []
  case .kept(let problem):
    model.session.keepProblem = problem
    model.session.message =
      problem.map { .failure("What you type is not saved: \($0)") }
      ?? .note("What you type is saved again")
    return problem == nil ? [] : [.bell]
  case .succeeded(let text):
    model.session.message = .note(text)
    return []
  case .failed(let text):
    model.session.message = .failure(text)
    return []
  case .configured(let configuration):
    return model.apply(configuration)
  case .wire(let events):
    model.session.inspector.add(events)
    return []
  case .command(let text):
    return model.run(text)
  }
}

// MARK: Keys

extension Model {
  /// Handles a key in the current context.
  fileprivate mutating func handle(_ key: KeyEvent) -> [Effect] {
    if case .resize(let size) = key {
      session.size = size
      relayout()
      return []
    }
    // Releasing the button is not another key: it answers no question and hides no message.
    if case .mouse(let event) = key, event.kind == .release { return [] }
    let context = self.context
    if !Frame.isLargeEnough(session.size), !context.isTyping {
      return handleBlindly(key, in: context)
    }
    if case .mouse(let event) = key { return handle(event) }
    let keepsMessage = context.isTyping && session.message?.outlasts(key) == true
    if !keepsMessage { session.message = nil }
    switch session.keys.match(key, in: [context]) {
    case .action(let action): return perform(action, in: context)
    case .pending: return []
    case .unbound: break
    }
    switch stack.type(key, session: &session) {
    case .taken(let effects): return effects
    case .closed: break
    case .ignored:
      if case .paste = key {
        session.message = .note("Nothing can be pasted here; c writes a post")
      }
    }
    return []
  }

  /// Whether the key has a meaning of its own where the user is.
  func binds(_ key: KeyEvent) -> Bool {
    var keys = session.keys
    return keys.match(key, in: [context]) != .unbound
      || (context.isTyping && EditCommand(key) != nil)
  }

  /// On a screen too small to show anything, only harmless keys work.
  private mutating func handleBlindly(_ key: KeyEvent, in context: Context) -> [Effect] {
    guard case .action(let action) = session.keys.match(key, in: [context]) else { return [] }
    switch action {
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .quit: return quit()
    case .yes: return question == .quit ? give(.quit) : []
    default: return []
    }
  }

  /// Performs an action in a context, or reports why it does not apply.
  mutating func perform(_ action: Action, in context: Context) -> [Effect] {
    guard let declaration = ActionTable.declaration(of: action, in: context) else { return [] }
    if let disabledReason = declaration.disabledReason(self) {
      if let text = disabledReason.message { session.message = text }
      return []
    }
    return declaration.perform(&self)
  }

  /// Whether an action would have an effect in the current state.
  func applies(_ action: Action, in context: Context) -> Bool {
    ActionTable.declaration(of: action, in: context).map { $0.disabledReason(self) == nil } ?? false
  }
}

// MARK: The mouse

extension Model {
  /// Handles a click or a step of the wheel.
  ///
  /// The target is resolved by painting, so it matches exactly what the user sees.
  private mutating func handle(_ event: MouseEvent) -> [Effect] {
    var painter = Painter(self)
    painter.paint()
    let hit = painter.hits.hit(at: event.position)
    session.message = nil
    return switch event.kind {
    case .release: []
    case .wheelUp: stack.scroll(by: -1, over: hit?.target, session: &session)
    case .wheelDown: stack.scroll(by: 1, over: hit?.target, session: &session)
    case .press: question == nil ? click(hit) : clickInQuestion(hit?.target)
    }
  }

  private mutating func click(_ hit: HitMap<ClickTarget>.Hit?) -> [Effect] {
    guard let hit else { return [] }
    switch hit.target {
    case .tab(let kind): return closePost() + session.select(tab: kind)
    case .post(let id): return clickPost(id)
    case .action(let action): return perform(action, in: context)
    case .row(let number, let id): return stack.type(of: id)?.pick(number, in: &self) ?? []
    case .field(let number, let id):
      stack.moveCursor(in: number, of: id, to: hit.offset, session: &session)
    case .list, .answer: break
    }
    return []
  }
}
