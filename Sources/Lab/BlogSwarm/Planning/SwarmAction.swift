/// What a user of a swarm does.
package enum SwarmAction: String, CaseIterable, Codable, Sendable {
  /// Writes a post.
  case post
  /// Writes a comment.
  case comment
  /// Stars a post.
  case star
  /// Takes a star back.
  case unstar
  /// Changes a post of its own.
  case edit
  /// Deletes a post of its own.
  case delete
  /// Deletes a comment of its own.
  case retract
  /// Adds to a number that others add to as well.
  case count
  /// Tries what the rules refuse: to star as someone else, or to change the post of another.
  case trespass
}
