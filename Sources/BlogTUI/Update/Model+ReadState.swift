import BlogModel
import TerminalUI

/// What was read and what is new.
extension Model {
  /// Whether the post is to be read by me.
  func isUnread(_ post: Post) -> Bool {
    post.uid != me.uid && reading.state?.isUnread(post) == true
  }

  /// Takes over what all my terminals have read.
  mutating func take(_ readState: ReadState) -> [Effect] {
    let isFirst = reading.state == nil
    reading.state = readState
    // Posts that were read leave a list of unread ones when it is searched again, not under the eyes.
    openPost?.noteRead(readState, me: me.uid)
    // Later on, another terminal may have marked the post as unread on purpose.
    return isFirst && openPost?.comments != nil ? markOpenPostRead() : []
  }

  /// Notes that the open post was read with all its comments.
  mutating func markOpenPostRead() -> [Effect] {
    guard let state = reading.state, let open = openPost, open.post != nil, !open.staysUnread else {
      return []
    }
    let last = open.comments?.last?.id ?? state.lastComment(on: open.id) ?? ""
    let mark = ReadState.Mark.read(lastComment: last)
    guard state.marks[open.id] != mark else { return [] }
    reading.state?.marks[open.id] = mark
    return [.mark(open.id, mark)]
  }

  mutating func toggleRead() -> [Effect] {
    guard let state = reading.state, let post = currentPost else { return [] }
    if post.uid == me.uid {
      message = .note("Your own posts are never unread.")
      return []
    }
    let last = state.lastComment(on: post.id) ?? ""
    let mark: ReadState.Mark = state.isUnread(post) ? .read(lastComment: last) : .unread
    reading.state?.marks[post.id] = mark
    openPost?.staysUnread = mark == .unread
    message = .note(mark == .unread ? "Marked as unread." : "Marked as read.")
    return [.mark(post.id, mark)]
  }

  mutating func markAllRead() -> [Effect] {
    guard reading.state != nil else { return [] }
    reading.state = ReadState(before: now)
    message = .note("Everything up to now counts as read.")
    return [.markAllRead]
  }

  /// To the first comment that was not read, or to the next unread post of the list.
  mutating func showNextUnread() {
    if openPost != nil {
      guard openPost?.selectFirstUnread() == true else {
        message = .note("No comment here is unread.")
        return
      }
      return
    }
    let ids = feed.list.ids
    let start = (feed.list.selectedIndex ?? 0) + 1
    let order = Array(ids.dropFirst(start)) + Array(ids.prefix(start))
    guard let id = order.first(where: { feed.post($0).map(isUnread) == true }) else {
      message = .note("No post in this list is unread.")
      return
    }
    feed.list.select(id)
    feed.markSeen()
  }
}
