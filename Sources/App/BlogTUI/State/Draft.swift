/// A post that is not sent, or that came back.
package struct Draft: Hashable, Sendable, Codable {
  /// The title.
  package var title: String
  /// The text.
  package var body: String
  /// Why it came back, if it was sent.
  package var problem: String?

  /// Makes a draft.
  package init(title: String, body: String, problem: String? = nil) {
    self.title = title
    self.body = body
    self.problem = problem
  }

  /// Whether nothing was typed.
  package var isEmpty: Bool { title.isEmpty && body.isEmpty }
}
