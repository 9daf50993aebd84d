import RealtimeTree
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
    {"users":{"alice":{"username":"Alice"}},
     "posts":{"p":\(post),"s":\(starred)},
     "user-posts":{"alice":{"p":\(post),"s":\(starred)}},
     "post-comments":{"p":{"c":{"uid":"bob","author":"Bob","text":"hi"}}}}
    """

  private func decision(_ attempt: BlogAttempt, _ world: String = world) throws -> Decision {
    let old = try Node(parsing: world)
    var new = old
    for (path, json) in attempt.changes { new.update(at: path, to: try Node(parsing: json)) }
    return try RuleSet.asset("blog.json").canWrite(
      attempt.changes.map(\.path),
      auth: attempt.uid.map { .object(("uid", .string($0))) },
      now: 0,
      from: old,
      to: new,
      explaining: true
    )
  }

  @Test("Writing", arguments: creating + editing + starring + commenting + meeting)
  func attempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt)
    #expect(decision.isAllowed == attempt.isAllowed, "\(decision.explanation)")
  }

  @Test("A post from before the rules can be starred, though it could not be written today")
  func oldPost() throws {
    let old = Self.post.replacing(#""T""#, with: #""\u001b[2J""#)
    let starred = old.replacing(#"t":0"#, with: #"t":1,"stars":{"bob":true}"#)
    let attempt = BlogAttempt("star", as: "bob", ("posts/p", starred), allowed: true)
    #expect(try decision(attempt, #"{"posts":{"p":\#(old)}}"#).isAllowed)
    let uncounted = old.replacing(#","starCount":0"#, with: "")
    #expect(try decision(attempt, #"{"posts":{"p":\#(uncounted)}}"#).isAllowed)
  }

  @Test("That a whole put drops the star of another is not seen while there are more stars")
  func unseenLoss() throws {
    let two = Self.both.replacing(#""bob":true"#, with: #""dave":true"#)
    let lost = Self.both.replacing(#""carol":true"#, with: #""dave":true"#)
      .replacing(#"t":2"#, with: #"t":3"#)
    let attempt = BlogAttempt("star", as: "bob", ("posts/s", lost), allowed: true)
    #expect(try decision(attempt, #"{"posts":{"s":\#(two)}}"#).isAllowed)
  }

  @Test("Who is signed in reads everything, others nothing")
  func reading() throws {
    let rules = try RuleSet.asset("blog.json")
    let root = try Node(parsing: Self.world)
    let bob = JSONValue.object(("uid", .string("bob")))
    for path in [
      Path.root, "users/alice", "posts", "posts/p", "user-posts/alice", "post-comments/p",
    ] {
      #expect(rules.canRead(path, auth: bob, now: 0, root: root).isAllowed)
      #expect(!rules.canRead(path, auth: nil, now: 0, root: root).isAllowed)
    }
  }

  @Test("The lists by stars are indexed")
  func indexes() throws {
    let rules = try RuleSet.asset("blog.json")
    #expect(rules.isIndexed("posts", by: .child("starCount")))
    #expect(rules.isIndexed("user-posts/alice", by: .child("starCount")))
    #expect(!rules.isIndexed("post-comments/p", by: .child("starCount")))
  }
}
