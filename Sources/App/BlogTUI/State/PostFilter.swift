package import BlogModel

/// Which posts a list shows: all but what disappears soon, and of those what is searched for.
package struct PostFilter: Sendable {
  /// What to look for; nil for everything.
  package let pattern: SearchPattern?
  /// Who I am.
  package let me: String
  /// What I have read.
  package let readState: ReadState?
  /// What disappears soon.
  package let hidden: Set<String>
  /// Whether the list is divided by days.
  package let dividesDays: Bool

  /// Makes a filter.
  package init(
    pattern: SearchPattern?,
    me: String,
    readState: ReadState? = nil,
    hidden: Set<String> = [],
    dividesDays: Bool = false
  ) {
    self.pattern = pattern
    self.me = me
    self.readState = readState
    self.hidden = hidden
    self.dividesDays = dividesDays
  }

  /// Whether nothing is left out.
  var passesAll: Bool { pattern == nil && hidden.isEmpty }

  /// Whether the post is shown.
  package func passes(_ post: Post) -> Bool {
    guard !hidden.contains(post.id) else { return false }
    return pattern?.matches(post, me: me, readState: readState) ?? true
  }
}
