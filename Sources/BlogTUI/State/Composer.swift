package import TerminalUI

/// The form in which a post is written.
package struct Composer: Equatable, Sendable {
  /// The fields of the form.
  package enum Field: Hashable, Sendable {
    /// The title.
    case title
    /// The text.
    case body
  }

  /// The title.
  package internal(set) var title: TextField
  /// The text.
  package internal(set) var body: TextArea
  /// The field that takes the keys.
  package internal(set) var focus = Field.title
  /// What is wrong with what was typed, or why it came back.
  package internal(set) var problem: SafeText?

  /// Makes a form with what was typed before.
  init(_ draft: Draft) {
    title = TextField(text: draft.title, limit: 200)
    body = TextArea(text: draft.body)
    problem = draft.problem.map { SafeText(untrusted: $0, limit: 400) }
    focus = draft.title.isEmpty ? .title : .body
  }

  /// What was typed.
  package var draft: Draft { Draft(title: title.text, body: body.text) }
}
