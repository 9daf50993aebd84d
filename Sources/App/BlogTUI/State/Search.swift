package import BlogModel

/// A search through the lists, which goes on while posts come and go.
package struct Search: Equatable, Sendable {
  /// What was typed.
  package internal(set) var field = TextField(limit: 200)
  /// Whether the line is still being typed.
  package internal(set) var isEditing = true
  /// The post that was selected before.
  package let origin: PostID?

  /// What to look for; nil while nothing was typed.
  package var pattern: SearchPattern? { SearchPattern(field.text) }
}
