import BlogModel

/// What others see of me and I of them while it happens.
extension Model {
  /// Tells others that I am typing, but not with every key.
  mutating func tellTyping() -> [Effect] {
    guard let open = openPost, settings.isOn(.sendTyping) else { return [] }
    guard open.isWriting, open.editing == nil, !Self.isBlank(open.field.text) else {
      return endTyping()
    }
    if let typing = reading.typing, typing.post == open.id,
      now < typing.at + Reading.typingPause
    {
      return []
    }
    reading.typing = (open.id, now)
    return [.typing(open.id, true)]
  }

  /// Tells others that I am no longer typing.
  mutating func endTyping() -> [Effect] {
    guard let typing = reading.typing else { return [] }
    reading.typing = nil
    return [.typing(typing.post, false)]
  }

  /// Tells of what others did to my posts, unless I am looking at it.
  mutating func take(_ notice: Notice) -> [Effect] {
    guard settings.isOn(.notifications), openPost?.id != notice.post else { return [] }
    let text: String
    switch notice {
    case .comment(_, let title, let author):
      text = "\(name(of: author.uid, author.name)) commented on \"\(Self.title(title))\"."
    case .star(_, let title, let count):
      text = "\"\(Self.title(title))\" has \(count) \(count == 1 ? "star" : "stars") now."
    }
    message = .note(text)
    if let last = reading.noticeAt, now < last + Reading.noticePause { return [] }
    reading.noticeAt = now
    return [.notify(text)]
  }

  /// Asks the blog for notices, or for no more, when the settings have changed.
  mutating func hearNotices() -> [Effect] {
    let wants = settings.isOn(.notifications)
    guard wants != reading.hearsNotices else { return [] }
    reading.hearsNotices = wants
    return [.hearNotices(wants)]
  }

  private static func title(_ title: String) -> String {
    SafeText(untrusted: title, limit: 40).string
  }
}
