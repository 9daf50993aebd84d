/// A terminal that somebody has open.
package struct Presence: Hashable, Sendable, Identifiable, Codable {
  /// The key of the terminal.
  package let id: String
  /// Who it is.
  package let person: Author
  /// Which terminal it is, in words.
  package let terminal: String
  /// Since when, in milliseconds since 1970; nil when nobody knows.
  package let since: Int64?

  /// Makes an entry.
  package init(id: String, person: Author, terminal: String, since: Int64?) {
    self.id = id
    self.person = person
    self.terminal = terminal
    self.since = since
  }
}
