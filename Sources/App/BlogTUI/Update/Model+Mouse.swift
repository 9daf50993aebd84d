import BlogModel

extension Model {
  private static let wheelStep = 3

  /// A click does what the part under it stands for, and the wheel scrolls.
  ///
  /// What is under the pointer is asked of the painter, so that it is what the user sees.
  mutating func handle(_ event: MouseEvent) -> [Effect] {
    var painter = Painter(self)
    painter.paint()
    let hit = painter.hits.hit(at: event.position)
    message = nil
    return switch event.kind {
    case .release: []
    case .wheelUp: scroll(by: -1, over: hit?.target)
    case .wheelDown: scroll(by: 1, over: hit?.target)
    case .press: question == nil ? click(hit) : clickInQuestion(hit?.target)
    }
  }

  /// A click beside the answers changes nothing, like a key that is none.
  private mutating func clickInQuestion(_ target: ClickTarget?) -> [Effect] {
    guard case .answer(let chosen)? = target else { return give(.cancel) }
    return click(chosen)
  }

  private mutating func click(_ hit: HitMap<ClickTarget>.Hit?) -> [Effect] {
    guard let hit else { return [] }
    switch hit.target {
    case .tab(let kind): return closePost() + select(tab: kind)
    case .post(let id): return click(id)
    case .action(let action): return perform(action, in: context)
    case .item(let number):
      chooser?.list.select(number)
      return chooseItem()
    case .completion(let number): commandLine?.take(completion: number)
    case .wireEvent(let number):
      if inspector.list.selection == number {
        showSelectedWireEvent()
      } else {
        inspector.list.select(number)
      }
    case .line(let line):
      openPost?.isWriting = false
      openPost?.select(lineInView: line)
    case .field(let field): click(field, at: hit.offset)
    case .list, .answer: break
    }
    return []
  }

  /// A click on a post selects it, and a click on the selected one opens it.
  private mutating func click(_ id: PostID) -> [Effect] {
    search?.isEditing = false
    if openPost != nil {
      feed.list.select(id)
      return openPostID == id ? [] : closePost() + open(id)
    }
    if feed.list.selection == id { return open(id) }
    feed.awaited = nil
    feed.isFollowing = false
    feed.list.select(id)
    return tellPosition()
  }

  /// A click into a text puts the cursor there.
  private mutating func click(_ field: ClickTarget.Field, at offset: Position) {
    switch field {
    case .title:
      composer?.focus = .title
      composer?.title.moveCursor(toColumn: offset.column)
    case .body:
      composer?.focus = .body
      composer?.body.moveCursor(to: offset)
    case .comment:
      openPost?.isWriting = true
      openPost?.field.moveCursor(toColumn: offset.column)
    case .search: search?.field.moveCursor(toColumn: offset.column)
    case .find: help?.field.moveCursor(toColumn: offset.column)
    case .command: commandLine?.field.moveCursor(toColumn: offset.column)
    case .chooser: chooser?.field.moveCursor(toColumn: offset.column)
    }
  }

  /// Scrolls what is in front; beside an open post the list scrolls where the pointer is over it.
  private mutating func scroll(by direction: Int, over target: ClickTarget?) -> [Effect] {
    if question != nil { return [] }
    if case .completion? = target {
      commandLine?.complete(by: direction)
    } else if chooser != nil {
      chooser?.list.move(by: direction)
    } else if let page = help {
      help?.scroll.scroll(to: page.scroll.top + Self.wheelStep * direction)
    } else if inspector.isOpen {
      inspector.list.move(by: Self.wheelStep * direction)
    } else if composer != nil {
      _ = composer?.body.handle(direction < 0 ? .up : .down)
    } else if openPost != nil, target?.isOfList != true {
      openPost?.page(by: Self.wheelStep * direction)
    } else {
      feed.awaited = nil
      feed.isFollowing = false
      feed.list.move(by: direction)
      feed.markSeen()
      return tellPosition()
    }
    return []
  }
}

extension ClickTarget {
  fileprivate var isOfList: Bool {
    switch self {
    case .list, .post: true
    case .tab, .line, .field, .answer, .item, .completion, .wireEvent, .action: false
    }
  }
}
