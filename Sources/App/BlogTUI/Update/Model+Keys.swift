extension Model {
  /// Does what a key means where the user is.
  mutating func handle(_ key: KeyEvent) -> [Effect] {
    if case .resize(let size) = key {
      self.size = size
      relayout()
      return []
    }
    // The end of a click is not another key: it answers nothing and hides no message.
    if case .mouse(let event) = key, event.kind == .release { return [] }
    let context = self.context
    if !Frame.isLargeEnough(size), !context.isTyping { return handleBlindly(key) }
    if case .mouse(let event) = key { return handle(event) }
    message = nil
    switch keys.match(key, in: [context]) {
    case .action(let action):
      return perform(action, in: context)
    case .pending:
      return []
    case .unbound:
      break
    }
    switch context {
    case .compose: typeIntoComposer(key)
    case .comment: return typeIntoComment(key)
    case .search: typeIntoSearch(key)
    case .confirm: question = nil
    case .find: typeIntoPageSearch(key)
    case .command: typeIntoCommandLine(key)
    case .chooser: typeIntoChooser(key)
    case .list, .post, .help, .inspector:
      if case .paste = key { message = .note("Nothing is pasted here: c writes.") }
    }
    return []
  }

  /// On a screen too small to see anything only harmless keys work.
  private mutating func handleBlindly(_ key: KeyEvent) -> [Effect] {
    guard case .action(let action) = keys.match(key, in: [context]) else { return [] }
    switch action {
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .quit: return quit()
    case .confirm: return question == .quit ? give(.quit) : []
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .back,
      .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .decline, .reload, .help, .reading,
      .program:
      return []
    }
  }

  /// Does what an action means in a place.
  mutating func perform(_ action: Action, in context: Context) -> [Effect] {
    if case .program(let action) = action, let effects = perform(action, in: context) {
      return effects
    }
    switch action {
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .help:
      openHelp()
      return []
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .back,
      .quit, .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .confirm, .decline, .reload, .reading,
      .program:
      break
    }
    switch context {
    case .list: return performInList(action)
    case .post: return performInPost(action)
    case .comment: return performInComment(action)
    case .compose: return performInComposer(action)
    case .search: return performInSearch(action)
    case .confirm: return performInQuestion(action)
    case .help: return performInHelp(action)
    case .find: return performInPageSearch(action)
    case .command: return performInCommandLine(action)
    case .chooser: return performInChooser(action)
    case .inspector: return performInInspector(action)
    }
  }
}
