import ArgumentParser
import BlogModel
import BlogTUI
import RealtimeCore

struct DraftsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drafts",
    abstract: "List drafts that were not sent; show or delete one.",
    discussion: """
      These are the drafts of terminals that have ended. A terminal that is open lists its own, \
      with C.
      """,
    subcommands: [ListAll.self, ShowOne.self, Remove.self],
    defaultSubcommand: ListAll.self
  )
}

extension DraftsCommand {
  struct ListAll: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the drafts, the latest first, each with a number."
    )

    @OptionGroup var options: CommonOptions

    func run() throws {
      try options.withDrafts(onlyReads: true) { unsent in
        for (index, item) in unsent.items.enumerated() {
          let number = index + 1
          options.answer("\(number)  \(item.heading)", json: item.json(number: number))
        }
      }
    }
  }

  struct ShowOne: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print the text of a draft."
    )

    @Argument(help: "Its number in the list.")
    var number: Int

    @OptionGroup var options: CommonOptions

    func run() throws {
      try options.withDrafts(onlyReads: true) { unsent in
        let item = try unsent.item(number)
        if options.json { return Output.line(item.json(number: number)) }
        switch item {
        case .post(let draft):
          Output.line(untrusted: draft.title, limit: .max)
          Output.line("")
          Output.lines(untrusted: draft.body)
        case .comment(_, let draft): Output.lines(untrusted: draft.text)
        }
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete a draft; the numbers of later ones change."
    )

    @Argument(help: "Its number in the list.")
    var number: Int

    @OptionGroup var options: CommonOptions

    func run() throws {
      try options.withDrafts(onlyReads: false) { unsent in
        unsent.remove(try unsent.item(number))
      }
    }
  }
}

extension CommonOptions {
  /// Takes over the drafts of terminals that have ended, and keeps what the body leaves of them; a
  /// body that only reads gets them as they are.
  ///
  /// - Throws: ``CommandFailure`` when they cannot be read or kept, or what the body throws.
  fileprivate func withDrafts(
    onlyReads: Bool,
    _ body: (inout Unsent) throws -> Void
  ) throws {
    let author = try author(try signedIn())
    let directory = try paths().state
    let file = DraftFile(directory: directory, uid: author.uid, isReadOnly: onlyReads)
    defer { file.close() }
    let kept = file.load()
    for text in kept.news { Output.message(text) }
    if !onlyReads, let problem = kept.problem { throw CommandFailure(.failed, "\(problem)") }
    var unsent = kept.unsent
    try body(&unsent)
    let isSame = unsent == kept.unsent
    let problem = isSame ? kept.problem : file.save(unsent, isDurable: true)
    if let problem { throw CommandFailure(.failed, "\(problem)") }
  }
}

extension Unsent {
  fileprivate func item(_ number: Int) throws(CommandFailure) -> Item {
    let items = items
    guard items.indices.contains(number - 1) else {
      throw CommandFailure(.notFound, "there is no draft \(number)")
    }
    return items[number - 1]
  }
}

extension Unsent.Item {
  /// What it is, and its first line.
  fileprivate var heading: String {
    switch self {
    case .post(let draft):
      let title = draft.title.isEmpty ? "(no title)" : draft.title
      return draft.editing.map { "edit of post \($0.id): \(title)" } ?? "post: \(title)"
    case .comment(let post, let draft):
      let text = draft.text.split(separator: "\n").first ?? ""
      if let edited = draft.editing { return "edit of comment \(edited.id) on \(post): \(text)" }
      let answered = draft.answered.map { "answer to \($0.id)" }
      return "\(answered ?? "comment") on \(post): \(text)"
    }
  }

  fileprivate func json(number: Int) -> JSONValue {
    func id(_ id: String?) -> JSONValue { id.map { .string($0) } ?? .null }
    switch self {
    case .post(let draft):
      return .object(
        ("number", .integer(Int64(number))),
        ("kind", .string("post")),
        ("title", .string(draft.title)),
        ("body", .string(draft.body)),
        ("edits", id(draft.editing?.id))
      )
    case .comment(let post, let draft):
      return .object(
        ("number", .integer(Int64(number))),
        ("kind", .string("comment")),
        ("post", .string(post)),
        ("text", .string(draft.text)),
        ("answers", id(draft.answered?.id)),
        ("edits", id(draft.editing?.id))
      )
    }
  }
}
