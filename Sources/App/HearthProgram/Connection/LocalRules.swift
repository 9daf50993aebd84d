import SecurityRules

/// The rules for terminals at the private socket, which otherwise could do everything.
///
/// A star is one update that adds to the counts of a post without a look at it. Where two terminals of
/// one user press the same key, only a rule can keep the second update from counting again: a count
/// moves by one exactly when the star of the user appears or disappears. Everything else is allowed.
enum LocalRules {
  private static let source = """
    {"rules": {
      ".read": true,
      ".write": true,
      "posts": {"$post": {".validate": "\(star)"}},
      "user-posts": {"$uid": {"$post": {".validate": "\(star)"}}}
    }}
    """

  // The first part lets everything pass that has nothing to do with stars. The second keeps stars off
  // what is no post, such as one that has been deleted.
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
