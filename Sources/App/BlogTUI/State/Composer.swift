package import BlogModel

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

  /// The post that is changed; nil for a new one.
  package let editing: Post?

  /// Makes a form with what was typed before, or with a post of mine that is to be changed.
  init(_ draft: Draft, editing: Post? = nil) {
    self.editing = editing
    title = TextField(text: draft.title, limit: PostLimits.editor)
    body = TextArea(text: draft.body, limit: PostLimits.editor)
    problem = draft.problem.map { SafeText(untrusted: $0, limit: 1_200) }
    focus = draft.title.isEmpty ? .title : .body
  }

  /// What was typed.
  package var draft: Draft { Draft(title: title.text, body: body.text) }

  /// Gives the keys to the other field.
  mutating func switchField() {
    focus = focus == .title ? .body : .title
  }
}
