/// Somebody who is writing a comment.
package struct Typist: Hashable, Sendable, Codable {
  /// How long a sign of life counts, in milliseconds; a program that was killed sends no other.
  package static let patience: Int64 = 30_000

  /// Who it is.
  package let person: Author
  /// When they last typed, in milliseconds since 1970.
  package let at: Int64

  /// Makes an entry.
  package init(person: Author, at: Int64) {
    self.person = person
    // Others may have written any number; this one can be counted from.
    self.at = max(0, min(at, 1 << 53))
  }

  /// Whether they are likely to be still writing.
  package func isWriting(now: Int64) -> Bool { now < at + Self.patience }
}
