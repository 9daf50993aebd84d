import BlogModel

extension Model {
  /// Leaves the mouse to the terminal, or takes it back.
  mutating func toggleMouse() -> [Effect] {
    let isOn = !settings.isOn(.mouse)
    settings.choose(.flag(isOn), for: .mouse, from: .session)
    message = .note(isOn ? "The mouse works here." : "The mouse selects text of the terminal.")
    return [.configureTerminal(settings)]
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

  mutating func copySelection() -> [Effect] {
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
