import BlogModel
import TerminalUI

extension Model {
  private static let wheelStep = 3

  /// Clicks select, a click on what is selected opens it, and the wheel scrolls.
  mutating func handle(_ event: MouseEvent) -> [Effect] {
    switch event.kind {
    case .release: return []
    case .wheelUp: return scroll(by: -1, at: event.position)
    case .wheelDown: return scroll(by: 1, at: event.position)
    case .press:
      if chooser != nil || help != nil || inspector.isOpen { return [] }
      if composer != nil { clickComposer(event.position, composeFrame) }
      if composer == nil, let kind = TabBar(self).kind(at: event.position) {
        return closePost() + select(tab: kind)
      }
      if composer != nil { return [] }
      guard openPost != nil, !isListAt(event.position) else {
        return clickList(event.position)
      }
      clickPost(event.position, postFrame)
    }
    return []
  }

  /// Whether a cell belongs to the list although a post is open beside it.
  private func isListAt(_ position: Position) -> Bool {
    isSplit && listRect.contains(position)
  }

  private mutating func scroll(by direction: Int, at position: Position) -> [Effect] {
    if chooser != nil {
      chooser?.list.move(by: direction)
    } else if let page = help {
      help?.scroll.scroll(to: page.scroll.top + Self.wheelStep * direction)
    } else if inspector.isOpen {
      inspector.list.move(by: Self.wheelStep * direction)
    } else if composer != nil {
      _ = composer?.body.handle(direction < 0 ? .up : .down)
    } else if openPost != nil, !isListAt(position) {
      openPost?.page(by: Self.wheelStep * direction)
    } else {
      feed.awaited = nil
      feed.isFollowing = false
      feed.list.move(by: direction)
      feed.markSeen()
      return tellPlace()
    }
    return []
  }

  private mutating func clickList(_ position: Position) -> [Effect] {
    guard let id = feed.list.id(at: position, in: listRect) else { return [] }
    search?.isEditing = false
    if openPost != nil {
      feed.list.select(id)
      return openPostID == id ? [] : closePost() + open(id)
    }
    if feed.list.selection == id { return open(id) }
    feed.awaited = nil
    feed.isFollowing = false
    feed.list.select(id)
    return tellPlace()
  }

  private mutating func clickPost(_ position: Position, _ frame: PostFrame) {
    if frame.field.contains(position) || frame.prompt.contains(position) {
      openPost?.isWriting = true
    } else if frame.text.contains(position) {
      openPost?.isWriting = false
      openPost?.select(lineInView: position.row - frame.text.row)
    }
  }

  private mutating func clickComposer(_ position: Position, _ frame: ComposeFrame) {
    if frame.title.contains(position) { composer?.focus = .title }
    if frame.body.contains(position) { composer?.focus = .body }
  }
}
