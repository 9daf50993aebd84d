import RealtimeCore
import Testing

/// A write request: the user (nil for anonymous), the changes, and whether it is allowed.
struct BlogAttempt: Sendable, CustomTestStringConvertible {
  let name: String
  let uid: String?
  let changes: [(path: Path, json: String)]
  let isAllowed: Bool

  init(
    _ name: String,
    as uid: String?,
    _ changes: (Path, String)...,
    allowed: Bool
  ) {
    self.name = name
    self.uid = uid
    self.changes = changes.map { (path: $0.0, json: $0.1) }
    isAllowed = allowed
  }

  /// The same request, expected to be refused.
  func refused() -> BlogAttempt {
    BlogAttempt(name, as: uid, changes: changes, allowed: false)
  }

  private init(
    _ name: String,
    as uid: String?,
    changes: [(path: Path, json: String)],
    allowed: Bool
  ) {
    self.name = name
    self.uid = uid
    self.changes = changes
    isAllowed = allowed
  }

  var testDescription: String { name }
}
