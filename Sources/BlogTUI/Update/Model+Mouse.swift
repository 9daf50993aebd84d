import BlogModel
import TerminalUI

extension Model {
  private static let wheelStep = 3

  /// Clicks select, a click on what is selected opens it, and the wheel scrolls.
  mutating func handle(_ event: MouseEvent) -> [Effect] {
    let frame = Frame(size)
    switch event.kind {
    case .release: return []
    case .wheelUp: scroll(by: -1)
    case .wheelDown: scroll(by: 1)
    case .press:
      if help != nil { return [] }
      if composer != nil { clickComposer(event.position, ComposeFrame(frame)) }
      if composer == nil, let kind = TabBar(self).kind(at: event.position) {
        return closePost() + select(tab: kind)
      }
      if openPost != nil {
        clickPost(event.position, PostFrame(frame))
      } else if composer == nil {
        return clickList(event.position, frame)
      }
    }
    return []
  }

  private mutating func scroll(by direction: Int) {
    if let page = help {
      help?.scroll.scroll(to: page.scroll.top + Self.wheelStep * direction)
    } else if composer != nil {
      _ = composer?.body.handle(direction < 0 ? .up : .down)
    } else if openPost != nil {
      openPost?.page(by: Self.wheelStep * direction)
    } else {
      feed.awaited = nil
      feed.list.move(by: direction)
      feed.markSeen()
    }
  }

  private mutating func clickList(_ position: Position, _ frame: Frame) -> [Effect] {
    guard let id = feed.list.id(at: position, in: frame.content) else { return [] }
    search?.isEditing = false
    if feed.list.selection == id { return open(id) }
    feed.awaited = nil
    feed.list.select(id)
    return []
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
