package enum BlogError: Error, Hashable, Sendable, CustomStringConvertible {
  case notFound(PostID)
  case commentNotFound(String)
  /// The post or comment belongs to someone else.
  case notMine(String, owner: String)
  /// The blog does not take the text; carries the reason as a sentence.
  case invalidText(String)
  /// Nobody has this identifier.
  case unknownPerson(String)
  /// The person to follow, mute or block is the user.
  case oneself
  /// A list cannot be read; carries the reason.
  case unreadable(String)
  /// Others changed the same data too often in the meantime.
  case conflict(PostID)

  package var description: String {
    switch self {
    case .notFound(let id):
      "there is no post \(Self.shown(id)); \"hearth list recent\" shows which there are"
    case .commentNotFound(let id): "there is no comment \(Self.shown(id)) on that post"
    case .notMine(let what, let owner): "\(what) was written by \(owner); only they can change it"
    case .invalidText(let sentence): sentence
    case .unknownPerson(let uid):
      "nobody has the identifier \"\(uid)\"; \"hearth list --json\" shows those of authors"
    case .oneself: "that is you; only others can be followed, muted or blocked"
    case .unreadable(let reason): reason
    case .conflict(let id):
      "post \(id) was changed by others too often in the meantime; try again in a moment"
    }
  }

  /// An identifier in a sentence; a script whose variable is empty has to see that.
  private static func shown(_ id: String) -> String { id.isEmpty ? "\"\"" : id }
}

/// Called when an operation is complete, with the error if it failed.
package typealias BlogCompletion = @Sendable ((any Error)?) -> Void

/// Starts an operation, waits until it is complete, and throws the error with which it has failed.
func finished(_ start: (@escaping BlogCompletion) -> Void) async throws {
  try await withCheckedThrowingContinuation {
    (continuation: CheckedContinuation<Void, any Error>) in
    start { error in
      if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
  }
}
