import BlogModel

extension Action {
  /// The name by which commands, configuration files and manual pages know the action.
  package var name: String {
    switch self {
    case .up: "up"
    case .down: "down"
    case .pageUp: "page-up"
    case .pageDown: "page-down"
    case .halfPageUp: "half-page-up"
    case .halfPageDown: "half-page-down"
    case .top: "top"
    case .bottom: "bottom"
    case .open: "open"
    case .back: "back"
    case .quit: "quit"
    case .tab(let kind): "show-\(kind.name)"
    case .nextTab: "next-list"
    case .previousTab: "previous-list"
    case .compose: "write"
    case .star: "star"
    case .delete: "delete"
    case .search: "search"
    case .nextMatch: "next-match"
    case .previousMatch: "previous-match"
    case .writeComment: "comment"
    case .send: "send"
    case .switchField: "switch-field"
    case .confirm: "yes"
    case .decline: "no"
    case .reload: "reload"
    case .help: "help"
    case .redraw: "redraw"
    case .suspend: "suspend"
    case .reading(let action): action.name
    case .program(let action): action.name
    }
  }
}

extension FeedKind {
  fileprivate var name: String {
    switch self {
    case .recent: "recent"
    case .top: "top"
    case .mine: "mine"
    case .myTop: "my-top"
    case .author: "author"
    }
  }
}

extension ReadingAction {
  fileprivate var name: String {
    switch self {
    case .follow: "follow"
    case .undo: "undo"
    case .edit: "edit"
    case .toggleRead: "toggle-read"
    case .markAllRead: "mark-all-read"
    case .nextUnread: "next-unread"
    case .author: "author"
    case .people: "people"
    case .density: "density"
    case .times: "times"
    case .dayRules: "day-rules"
    case .split: "split"
    }
  }
}

extension ProgramAction {
  fileprivate var name: String {
    switch self {
    case .commandLine: "command-line"
    case .palette: "palette"
    case .messages: "messages"
    case .settings: "settings"
    case .inspector: "inspector"
    case .editExternally: "edit-in-editor"
    case .copy: "copy"
    case .links: "links"
    case .account: "account"
    case .toggleMouse: "toggle-mouse"
    case .complete: "complete"
    case .completeBackwards: "complete-backwards"
    case .pause: "pause"
    case .nextKind: "next-kind"
    case .clear: "clear"
    case .save: "save"
    }
  }
}
