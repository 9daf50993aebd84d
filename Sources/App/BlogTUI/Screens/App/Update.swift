package import BlogModel

/// Something that happened and may change the screen.
package enum Event: Equatable, Sendable, Codable {
  case started
  /// The user pressed a key or used the mouse, or the terminal has a new size.
  case key(KeyEvent)
  case blog(BlogEvent)
  /// The current time, in milliseconds since 1970 by the server's clock.
  case tick(now: Int64)
  /// The key of the post that an ``BlogAction/post(_:title:body:)`` created.
  case posted(PostID)
  /// The key of the comment that an ``BlogAction/comment(_:commentID:text:answering:)`` created.
  case commented(PostID, commentID: String)
  /// The process continues after it was stopped.
  case resumed
  /// The draft of an ``EnvironmentAction/edit(_:)`` as the editor has left it.
  case edited(Draft)
  /// The text of an ``EnvironmentAction/editText(_:on:)`` as the editor has left it.
  case editedText(String)
  /// What was typed was saved again after it could not be; or why it cannot be saved.
  case kept(problem: String?)
  /// An operation outside the program succeeded; the text says what.
  case succeeded(String)
  /// An operation outside the program failed; the text says what, why and what to do.
  case failed(String)
  /// The configuration was read, again or for the first time.
  case configured(Configuration)
  case wire([WireEvent])
  /// A command to run, as if it had been typed.
  case command(String)
  case commandEnded(CommandOutcome)
}

/// Work for the program outside the model, in response to an event.
package enum Effect: Hashable, Sendable {
  /// Change the blog; its events report the outcome, ``Event/posted(_:)`` and
  /// ``Event/commented(_:commentID:)`` the key of what is new.
  case write(BlogAction)
  case mark(ReadChange)
  /// Have the blog report more or less.
  case request(BlogRequest)
  /// Search a whole list, or end the search; ``BlogEvent/found(_:)`` reports the progress.
  case search(SearchRequest?)
  case terminal(TerminalAction)
  /// Use the rest of the system.
  case environment(EnvironmentAction)
  case quit
  /// Leave in order to switch accounts.
  case changeAccount
}

/// What the terminal does apart from showing the screen.
package enum TerminalAction: Hashable, Sendable {
  /// Draw every cell again.
  case redraw
  /// Stop the process, as the suspend key does.
  case suspend
  /// Ring the bell, if the user wants to hear it.
  case bell
  case notify(String)
  /// Copy a text to the clipboard.
  case copy(String)
  case configure(Settings)
}

/// What the program does beyond the terminal and the blog.
package enum EnvironmentAction: Hashable, Sendable {
  /// Open a draft in the user's editor; ``Event/edited(_:)`` brings it back.
  case edit(Draft)
  /// Open a comment on a post in the user's editor; ``Event/editedText(_:)`` brings it back.
  case editText(CommentDraft, on: PostID)
  case openLink(String)
  case write(String, file: String)
  /// Write lines of JSON to a new file, without the secrets in them.
  case writeWire(String, file: String)
  /// Write a report to a file, whose name may be empty.
  case report(file: String)
  case keepHistory([String])
  /// Save a value in the configuration file.
  case keepSetting(Setting, SettingValue)
  /// Start or stop watching the wire.
  case watchWire(Bool)
  /// Connect to the database (true), or disconnect and stay disconnected (false).
  case network(Bool)
  /// Run a shell command; ``Event/commandEnded(_:)`` tells how it ended.
  case run(CommandJob)
}

/// Updates the model for an event, and returns the work to be done outside it, in order.
package func update(_ model: inout Model, with event: Event) -> [Effect] {
  model.session.inspector.cause = nil
  let effects = handle(event, in: &model)
  model.showOutput()
  return effects + model.session.hearNotices() + model.watchComments()
    + model.session.searchRest() + model.followPeople()
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
  case .resumed:
    return [.terminal(.redraw)]
  case .edited(let draft):
    model.takeEdited(draft)
  case .editedText(let text):
    model.takeEdited(text)
  case .kept(let problem):
    model.session.writing.keepProblem = problem
    model.session.message =
      problem.map { .failure("What you type is not saved: \($0)") }
      ?? .note("What you type is saved again")
    return problem == nil ? [] : [.terminal(.bell)]
  case .succeeded(let text):
    model.session.tell(text)
  case .failed(let text):
    model.session.message = .failure(text)
  case .configured(let configuration):
    return model.apply(configuration)
  case .wire(let events):
    model.session.inspector.add(events)
  case .command(let text):
    return model.run(text)
  case .commandEnded(let outcome):
    model.take(outcome)
    return outcome.failure == nil ? [] : [.terminal(.bell)]
  }
  return []
}

// MARK: Keys

extension Model {
  fileprivate mutating func handle(_ key: KeyEvent) -> [Effect] {
    if case .resize(let size) = key {
      session.display.size = size
      relayout()
      return []
    }
    // Releasing the button is not another key: it answers no question and hides no message.
    if case .mouse(let event) = key, event.kind == .release { return [] }
    if closeUnnoticedQuestion() {
      defer { if session.message == nil { keepName() } }
      return handle(key)
    }
    let context = self.context
    if !Frame.isLargeEnough(session.size), !context.isTyping {
      return handleBlindly(key, in: context)
    }
    if case .mouse(let event) = key { return handle(event) }
    let keepsMessage = context.isTyping && session.message?.outlasts(key) == true
    if !keepsMessage { session.message = nil }
    if let effects = stack.complete(.key(key), session: &session) { return effects }
    switch session.keys.match(key, in: context) {
    case .action(let action):
      session.inspector.cause = "key \(key): \(action.name)"
      return perform(action, in: context)
    case .pending: return []
    case .unbound: break
    }
    switch stack.type(key, session: &session) {
    case .taken(let effects): return effects
    case .closed: break
    case .ignored:
      if case .paste = key {
        let key = session.key(.compose)
        session.message = .notDone("Nothing can be pasted here; \(key) writes a post")
      }
    }
    return []
  }

  /// Whether the key has a meaning of its own where the user is.
  func binds(_ key: KeyEvent) -> Bool {
    var keys = session.keys
    return keys.match(key, in: context) != .unbound
      || (context.isTyping && EditCommand(key) != nil)
  }

  /// On a screen too small to show anything, only harmless keys work.
  private mutating func handleBlindly(_ key: KeyEvent, in context: Context) -> [Effect] {
    guard case .action(let action) = session.keys.match(key, in: context) else { return [] }
    switch action {
    case .redraw: return [.terminal(.redraw)]
    case .suspend: return [.terminal(.suspend)]
    case .quit: return quit()
    case .yes: return question == .quit ? give(.quit) : []
    default: return []
    }
  }

  /// Performs an action in a context, or reports why it does not apply.
  mutating func perform(_ action: Action, in context: Context) -> [Effect] {
    guard let declaration = declaration(of: action, in: context) else { return [] }
    if let disabledReason = declaration.disabledReason(self) {
      if let text = disabledReason.message { session.message = text }
      return []
    }
    return declaration.perform(&self)
  }

  func applies(_ action: Action, in context: Context) -> Bool {
    declaration(of: action, in: context).map { $0.disabledReason(self) == nil } ?? false
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
    var input = Completer.Input.key(.mouse(event))
    if event.kind == .press, case .completion(let index)? = hit?.target { input = .item(index) }
    if let effects = stack.complete(input, session: &session) { return effects }
    return switch event.kind {
    case .release: []
    case .wheelUp: stack.scroll(by: -1, over: hit?.target, session: &session)
    case .wheelDown: stack.scroll(by: 1, over: hit?.target, session: &session)
    case .press: question == nil ? click(hit) : clickInQuestion(hit?.target)
    }
  }

  private mutating func click(_ hit: (target: ClickTarget, offset: Position)?) -> [Effect] {
    guard let hit else { return [] }
    switch hit.target {
    case .tab(let kind): return closePost() + session.select(tab: kind)
    case .post(let id): return clickPost(id)
    case .action(let action):
      session.inspector.cause = "click: \(action.name)"
      return perform(action, in: context)
    case .row(let number, let id): return stack.type(of: id)?.pick(number, in: &self) ?? []
    case .field(let number, let id):
      stack.moveCursor(in: number, of: id, to: hit.offset, session: &session)
    case .list, .answer, .completion: break
    }
    return []
  }
}
