import RealtimeCore
import SecurityRules
import Testing

@Suite("The rules of the blog")
struct BlogRulesTests {
  static let post = #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":0}"#
  static let starred =
    #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":1,"stars":{"carol":true}}"#
  static let both =
    #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":2,"#
    + #""stars":{"bob":true,"carol":true}}"#
  static let world = """
    {"users":{"alice":{"username":"Alice"},"bob":{"username":"Name"},
              "carol":{"username":"Name"}},
     "posts":{"p":\(post),"s":\(starred)},
     "user-posts":{"alice":{"p":\(post),"s":\(starred)}},
     "post-comments":{"p":{"c":{"uid":"bob","author":"Bob","text":"hi"}}}}
    """

  /// The rules for users who do not trust each other, and those for friends.
  private static let shared = "blog.json"
  private static let friendly = "blog-transactions.json"

  private func decision(
    _ attempt: BlogAttempt,
    _ world: String = world,
    by rules: String = shared
  ) throws -> Decision {
    let old = try Node(parsing: world)
    var new = old
    for (path, json) in attempt.changes { new.update(at: path, to: try Node(parsing: json)) }
    let rules = try RuleSet.asset(rules)
    let auth: JSONValue? = attempt.uid.map { .object(("uid", .string($0))) }
    let decision = rules.canWrite(
      attempt.changes.map(\.path),
      auth: auth,
      now: 0,
      from: old,
      to: new,
      explaining: true
    )
    if attempt.changes.count == 1, let path = attempt.changes.first?.path {
      let isAllowed = decision.isAllowed
      rules.expect(isAllowed, onReplacing: path, by: new[path], in: old, auth: auth, now: 0)
    }
    return decision
  }

  @Test(
    "Each attempt to write is allowed or denied as expected",
    arguments: creating + editing + starring + commenting + addressing + meeting
  )
  func attempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt)
    #expect(decision.isAllowed == attempt.isAllowed, "\(decision.explanation)")
  }

  @Test(
    "Each attempt to write under the friends' rules is allowed or denied as expected",
    arguments: creating + friendlyStarring + commenting + addressing + meeting
  )
  func friendlyAttempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt, by: Self.friendly)
    #expect(decision.isAllowed == attempt.isAllowed, "\(decision.explanation)")
  }

  @Test("A post from before the rules can be starred even if it could not be written today")
  func oldPost() throws {
    let old = Self.post.replacing(#""T""#, with: #""\u001b[2J""#)
    let starred = old.replacing(#"t":0"#, with: #"t":1,"stars":{"bob":true}"#)
    let put = BlogAttempt("star", as: "bob", ("posts/p", starred), allowed: true)
    let update = Self.increment(as: "bob", "p", "true", count: 1, allowed: true)
    let weighty = old.replacing(#""B""#, with: #"{".value":"B",".priority":"p"}"#)
    for post in [old, old.replacing(#","starCount":0"#, with: ""), weighty] {
      let world = #"{"posts":{"p":\#(post)},"user-posts":{"alice":{"p":\#(post)}}}"#
      #expect(try decision(update, world).isAllowed)
      guard post != weighty else { continue }
      #expect(try decision(put, world, by: Self.friendly).isAllowed)
    }
  }

  @Test("A star missing from one copy can be added there alone")
  func drift() throws {
    let attempt = BlogAttempt(
      "star",
      as: "carol",
      ("user-posts/alice/s/stars/carol", "true"),
      ("user-posts/alice/s/starCount", "1"),
      allowed: true
    )
    let world = #"{"posts":{"s":\#(Self.starred)},"user-posts":{"alice":{"s":\#(Self.post)}}}"#
    #expect(try decision(attempt, world).isAllowed)
  }

  @Test("The friends' rules miss a whole-post put that drops another user's star")
  func unseenLoss() throws {
    let two = Self.both.replacing(#""bob":true"#, with: #""dave":true"#)
    let lost = Self.both.replacing(#""carol":true"#, with: #""dave":true"#)
      .replacing(#"t":2"#, with: #"t":3"#)
    let attempt = BlogAttempt("star", as: "bob", ("posts/s", lost), allowed: true)
    #expect(try decision(attempt, #"{"posts":{"s":\#(two)}}"#, by: Self.friendly).isAllowed)
    #expect(try !decision(attempt, #"{"posts":{"s":\#(two)}}"#).isAllowed)
  }

  @Test("Only signed-in users can read the blog", arguments: [shared, friendly])
  func reading(file: String) throws {
    let rules = try RuleSet.asset(file)
    let root = try Node(parsing: Self.world)
    let bob = JSONValue.object(("uid", .string("bob")))
    let places: [Path] = [
      "users", "users/alice", "posts", "posts/p", "user-posts/alice", "post-comments/p", "presence",
      "typing/p", "seen/bob", "replies/bob", "following/bob", "mentions", "mentions/bob",
      "tags/tea",
    ]
    for path in places {
      #expect(rules.canRead(path, auth: bob, now: 0, root: root).isAllowed)
      #expect(!rules.canRead(path, auth: nil, now: 0, root: root).isAllowed)
    }
    // Read marks are private to their user, so nobody may read everything.
    let others: [Path] = [
      "/", "seen", "seen/alice", "unknown", "replies", "replies/alice", "following",
      "following/alice",
    ]
    for path in others {
      #expect(!rules.canRead(path, auth: bob, now: 0, root: root).isAllowed)
    }
  }

  @Test("Posts are indexed by star count", arguments: [shared, friendly])
  func indexes(file: String) throws {
    let rules = try RuleSet.asset(file)
    #expect(rules.isIndexed("posts", by: .child("starCount")))
    #expect(rules.isIndexed("user-posts/alice", by: .child("starCount")))
    #expect(!rules.isIndexed("post-comments/p", by: .child("starCount")))
  }
}
