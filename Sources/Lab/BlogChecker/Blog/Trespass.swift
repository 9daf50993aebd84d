private import RealtimeCore
private import SecurityRules

/// What a run tries that must be refused: to change the post of another, to star in another's name.
package enum Trespass {
  /// Whether security rules refuse it, so that a run may expect them to.
  ///
  /// It is asked about a small blog; rules that cannot be read are taken for some that do.
  ///
  /// - Parameter source: The rules document.
  /// - Returns: Whether all of it is refused.
  package static func isRefused(by source: String) -> Bool {
    guard let rules = try? RuleSet(source: source) else { return true }
    let post = JSONValue.object(
      ("uid", .string("owner")),
      ("author", .string("owner")),
      ("title", .string("title")),
      ("body", .string("body")),
      ("starCount", .integer(0))
    )
    let blog = JSONValue.object(
      ("posts", .object(("post", post))),
      ("user-posts", .object(("owner", .object(("post", post)))))
    )
    guard let root = try? Node(json: blog) else { return true }
    let place: Path = "/posts/post"
    var edited = root
    edited.update(at: "/posts/post/title", to: .string("another"))
    var starred = root
    starred.update(at: "/posts/post/stars/other", to: .bool(true))
    starred.update(at: "/posts/post/starCount", to: .integer(1))
    return [edited, starred].allSatisfy { after in
      !rules.canWrite(
        [place],
        auth: .object(("uid", .string("stranger"))),
        now: 1,
        from: root,
        to: after
      ).isAllowed
    }
  }
}
