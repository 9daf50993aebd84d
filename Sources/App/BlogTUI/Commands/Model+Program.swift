import BlogModel

extension Model {
  /// Does what concerns the program as a whole; nil if the place has a meaning of its own for it.
  mutating func perform(_ action: ProgramAction, in context: Context) -> [Effect]? {
    switch action {
    case .commandLine: openCommandLine()
    case .palette: openPalette()
    case .messages: openMessages()
    case .settings: openSettings()
    case .inspector: return toggleInspector()
    case .editExternally: return composer.map { [.editExternally($0.draft)] } ?? []
    case .copy:
      guard context != .chooser else { return nil }
      return copySelection()
    case .links: openLinks()
    case .account: return [.changeAccount]
    case .toggleMouse:
      let isOn = !settings.isOn(.mouse)
      settings.choose(.flag(isOn), for: .mouse, from: .session)
      message = .note(isOn ? "The mouse works here." : "The mouse selects text of the terminal.")
      return [.configureTerminal(settings)]
    case .complete: commandLine?.complete(by: 1)
    case .completeBackwards: commandLine?.complete(by: -1)
    case .pause: inspector.togglePause()
    case .nextKind: inspector.showNextKind()
    case .clear: inspector.clear()
    case .save: return saveInspector()
    }
    return []
  }

  /// Cuts this terminal off or connects it again; without a word it says which of both holds.
  mutating func network(_ word: String) -> [Effect] {
    switch word {
    case "off":
      isCutOff = true
      message = .note("This terminal is cut off: what you write waits. :net on connects again.")
      return [.network(false)]
    case "on":
      isCutOff = false
      message = .note("This terminal connects again.")
      return [.network(true)]
    case "":
      message = .note(isCutOff ? "This terminal is cut off." : "This terminal is not cut off.")
    default:
      message = .failure("net is on or off, not \"\(word)\".")
    }
    return []
  }

  private mutating func copySelection() -> [Effect] {
    if let comment = openPost?.selectedComment {
      message = .note("The comment is copied.")
      return [.copy(comment.text)]
    }
    guard let post = openPost?.post ?? feed.selectedPost else { return [] }
    message = .note("The post is copied.")
    return [.copy(post.title + "\n\n" + post.body + "\n")]
  }

  /// Takes back what another editor made of the draft.
  mutating func takeEdited(_ draft: Draft) {
    guard composer != nil else { return }
    composer?.title.setText(draft.title)
    composer?.body.setText(draft.body)
    composer?.problem = nil
    relayout()
  }
}
