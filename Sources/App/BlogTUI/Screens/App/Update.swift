/// Changes the model as the event demands, and tells what has to be done outside of it.
///
/// - Parameters:
///   - model: What is on the screen.
///   - event: What happened.
/// - Returns: What the program has to do, in order.
package func update(_ model: inout Model, _ event: Event) -> [Effect] {
  handle(event, &model) + model.session.hearNotices() + model.watchComments()
}

private func handle(_ event: Event, _ model: inout Model) -> [Effect] {
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
  /// Does what a key means where the user is.
  fileprivate mutating func handle(_ key: KeyEvent) -> [Effect] {
    if case .resize(let size) = key {
      session.size = size
      relayout()
      return []
    }
    // The end of a click is not another key: it answers nothing and hides no message.
    if case .mouse(let event) = key, event.kind == .release { return [] }
    let context = self.context
    if !Frame.isLargeEnough(session.size), !context.isTyping {
      return handleBlindly(key, in: context)
    }
    if case .mouse(let event) = key { return handle(event) }
    session.message = nil
    switch session.keys.match(key, in: [context]) {
    case .action(let action): return perform(action, in: context)
    case .pending: return []
    case .unbound: break
    }
    switch stack.type(key, session: &session) {
    case .taken(let effects): return effects
    case .closed: break
    case .ignored:
      if case .paste = key { session.message = .note("Nothing is pasted here: c writes.") }
    }
    return []
  }

  /// On a screen too small to see anything only harmless keys work.
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

  /// Does what an action means in a context, or says why it does not apply.
  mutating func perform(_ action: Action, in context: Context) -> [Effect] {
    guard let declaration = ActionTable.declaration(of: action, in: context) else { return [] }
    if let obstacle = declaration.obstacle(self) {
      if let text = obstacle.message { session.message = text }
      return []
    }
    return declaration.perform(&self)
  }
}

// MARK: The mouse

extension Model {
  /// A click does what the part under it stands for, and the wheel scrolls.
  ///
  /// The painter knows what is under the pointer, so that it is what the user sees.
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
