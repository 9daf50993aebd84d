extension Effect {
  /// Whether the blog answers it, with success or with a refusal.
  var isWrite: Bool {
    switch self {
    case .post, .comment, .star, .edit, .editComment, .deletePost, .deleteComment: true
    case .follow, .stopFollowing, .read, .showFirst, .open, .close, .watchComments, .mark,
      .markAllRead, .typing, .hearNotices, .notify, .redraw, .suspend, .bell, .quit,
      .changeAccount, .editExternally, .copy, .openLink, .write, .keepHistory, .keepSetting,
      .configureTerminal, .watchWire, .network:
      false
    }
  }

  /// Whether it only asks the blog for more to show, which can begin after what is known is drawn.
  var canWait: Bool {
    switch self {
    case .read, .watchComments: true
    case .post, .comment, .star, .edit, .editComment, .deletePost, .deleteComment, .follow,
      .stopFollowing, .showFirst, .open, .close, .mark, .markAllRead, .typing, .hearNotices,
      .notify, .redraw, .suspend, .bell, .quit, .changeAccount, .editExternally, .copy, .openLink,
      .write, .keepHistory, .keepSetting, .configureTerminal, .watchWire, .network:
      false
    }
  }
}
