import RealtimeServer

/// The rules for terminals at the private socket, which otherwise could do anything.
///
/// A star is one update that adds to a post's counts without reading the post. If two terminals of
/// one user press the same key, only a rule can keep the second update from counting again: a count
/// changes by one exactly when the user's star appears or disappears. Everything else is allowed.
enum LocalRules {
  private static let source = """
    {"rules": {
      ".read": true,
      ".write": true,
      "posts": {"$post": {".validate": "\(star)"}},
      "user-posts": {"$uid": {"$post": {".validate": "\(star)"}}}
    }}
    """

  // The first part accepts every write that does not affect stars. The second refuses stars on
  // anything that is not a post, such as a deleted one.
  private static let star = """
    (newData.child('stars').hasChild(auth.uid) === data.child('stars').hasChild(auth.uid) \
    && newData.child('starCount').val() === data.child('starCount').val()) \
    || (newData.hasChild('uid') && newData.child('starCount').val() === \
    (data.child('starCount').exists() ? data.child('starCount').val() : 0) \
    + (newData.child('stars').hasChild(auth.uid) ? 1 : 0) \
    - (data.child('stars').hasChild(auth.uid) ? 1 : 0))
    """

  /// The rules, compiled.
  static func compiled() throws(RulesError) -> RuleSet { try RuleSet(source: source) }
}
