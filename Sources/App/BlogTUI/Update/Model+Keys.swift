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
    default:
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
    case .yes: return question == .quit ? give(.quit) : []
    default: return []
    }
  }

  /// Does what an action means in a context, or says why it does not apply.
  mutating func perform(_ action: Action, in context: Context) -> [Effect] {
    guard let declaration = ActionTable.declaration(of: action, in: context) else { return [] }
    if let obstacle = declaration.obstacle(self) {
      if let text = obstacle.message { message = text }
      return []
    }
    return declaration.perform(&self)
  }
}
