import BlogModel

@testable import BlogTUI

/// What a scene may ask about a model; what is not there is none.
struct SceneFacts {
  let model: Model

  func value(of name: String) -> String? {
    list(name) ?? writing(name) ?? reading(name) ?? tools(name) ?? chooser(name)
      ?? Setting(rawValue: name).map { model.settings.word($0) }
  }

  private func list(_ name: String) -> String? {
    switch name {
    case "selection": text(model.feed.list.selection)
    case "posts": joined(model.feed.posts.map(\.id))
    case "feeds": joined(model.session.allFeeds.map { "\($0)" })
    case "ids": joined(model.feed.list.ids)
    case "count": "\(model.feed.list.ids.count)"
    case "top": "\(model.feed.list.top)"
    case "unseen": "\(model.feed.unseenCount)"
    case "following": "\(model.feed.isFollowing)"
    case "phase": "\(model.feed.phase)"
    case "tab": "\(model.tab)"
    case "search": text(model.search?.field.text)
    case "searching": "\(model.search?.isEditing == true)"
    case "unread": joined(model.feed.posts.filter(model.session.isUnread).map(\.id))
    case "stars": text(model.feed.selectedPost.map { "\($0.starCount)" })
    default: nil
    }
  }

  private func writing(_ name: String) -> String? {
    switch name {
    case "title": text(model.composer?.title.text)
    case "body": text(model.composer?.body.text)
    case "focus": text(model.composer.map { "\($0.focus)" })
    case "problem": text(model.composer?.problem?.string)
    case "editing": text((model.composer?.editing?.id) ?? (model.openPost?.line.editing?.id))
    case "comment": text(model.openPost?.line.field.text)
    case "answered": text(model.openPost?.line.answered?.id)
    case "height": text(model.openPost.map { "\($0.line.height)" })
    case "is-highest": "\(model.openPost?.line.height == model.session.fieldLimit)"
    case "drafts": joined(model.unsentDrafts.map(Self.draft), by: " ; ")
    case "kept-posts": joined(model.session.writing.unsent.posts.map(Self.draft), by: " ; ")
    case "kept-comments": Self.comments(model.session.writing.unsent)
    case "unsent-comments": Self.comments(model.unsent)
    case "question": question
    case "answer": "\(model.answer)"
    case "deletions": joined(model.writing.deletions.map(\.id))
    default: nil
    }
  }

  private func reading(_ name: String) -> String? {
    switch name {
    case "open": text(model.openPost?.id)
    case "chosen": text(model.openPost?.selection)
    case "comments": text(model.openPost?.comments.visible.map { joined($0.map(\.id)) })
    case "newest": text(model.openPost?.comments.newest)
    case "first-unread": text(model.openPost?.unread.first)
    case "scrolled": text(model.openPost.map { "\($0.view.top)" })
    case "known": known
    case "notices": "\(model.session.unreadNotices)"
    default: nil
    }
  }

  private func tools(_ name: String) -> String? {
    switch name {
    case "context": model.context.name
    case "message": text(model.message?.text.string)
    case "kind": text(model.message.map { "\($0.kind)" })
    case "last-message": text(model.messages.entries.last?.message.text.string)
    case "messages": model.messages.entries.map(\.message.text.string).joined(separator: "\n")
    case "command": text(model.commandLine?.field.text)
    case "completions": joined(model.commandLine?.completions.map(\.line) ?? [], by: "|")
    case "history": joined(model.session.commands.history)
    case "page": text(model.help?.title.string)
    case "line-count": text(model.help.map { "\($0.scroll.lines.count)" })
    case "cause": text(model.inspector.cause)
    case "lines": text(model.help?.scroll.lines.map(\.string).joined(separator: " / "))
    case "glyphs": model.glyphs == .ascii ? "ascii" : "unicode"
    case "me": model.me.name
    case "tick": text(model.nextTick.map { "\(Int($0 / .milliseconds(1)))" })
    case "retry": text(model.connection.secondsUntilRetry(at: model.now).map { "\($0)" })
    case "cursor": text(view(model).cursor.map { "\($0.row) \($0.column)" })
    case "split": "\(model.isSplit)"
    case "footer": words(model.rows.suffix(8))
    case "words": words(model.rows[...])
    default: nil
    }
  }

  private func chooser(_ name: String) -> String? {
    let chooser = model.chooser
    let names = chooser?.items.compactMap(\.name) ?? []
    switch name {
    case "theme": return model.theme.name
    case "chooser": return text(chooser.map { "\($0.kind)" })
    case "item": return text(chooser?.selection?.name)
    case "items": return joined(chooser?.items.map(\.title) ?? [], by: " | ")
    case "recent-items":
      return joined(chooser?.items.prefix { $0.isRecent }.compactMap(\.name) ?? [])
    case "repeated-items":
      return joined(names.filter { name in names.count { $0 == name } > 1 })
    case "first-row":
      // The row below the field of the palette.
      let field = model.rows.firstIndex { $0.contains("│› ") } ?? model.rows.count
      return field + 1 < model.rows.count ? model.rows[field + 1] : "none"
    default: return nil
    }
  }

  /// What is known to be read: a time in milliseconds from now, and marks.
  private var known: String {
    guard let state = model.reading.marks.state else { return "none" }
    let marks = state.marks.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    let stars = state.stars.map { " stars \($0)" } ?? ""
    return "\(state.before - Fixture.now)" + marks.joined() + stars
  }

  private func text(_ value: String?) -> String { value ?? "none" }

  private func joined(_ values: [String], by separator: String = " ") -> String {
    values.isEmpty ? "none" : values.joined(separator: separator)
  }

  /// The words of some rows, regardless of line breaks.
  private func words(_ rows: ArraySlice<String>) -> String {
    rows.joined(separator: " ").split(separator: " ").joined(separator: " ")
  }

  private var question: String {
    switch model.question {
    case .delete(.deletePost(let post)): "delete \(post)"
    case .delete(.deleteComment(let post, let comment)): "delete-comment \(post) \(comment)"
    case .delete(let action): "\(action)"
    case .keepDraft: "keep"
    case .quit: "quit"
    case nil: "none"
    }
  }

  private static func draft(_ draft: Draft) -> String {
    "\(draft.title)|\(draft.body)" + (draft.problem == nil ? "" : " refused")
      + (draft.editing.map { " editing \($0.id)=\($0.title)|\($0.body)" } ?? "")
  }

  private static func comments(_ unsent: Unsent) -> String {
    let all = unsent.comments.sorted { $0.key < $1.key }.flatMap { post, drafts in
      drafts.map { draft in
        "\(post)=\(draft.text)" + (draft.answered.map { " to \($0.id)" } ?? "")
          + (draft.editing.map { " editing \($0.id)" } ?? "")
      }
    }
    return all.isEmpty ? "none" : all.joined(separator: " ; ")
  }
}
