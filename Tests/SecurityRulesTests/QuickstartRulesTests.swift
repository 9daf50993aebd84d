import RealtimeCore
import RealtimeServer
import Testing

@Suite("The rules of the published sample")
struct QuickstartRulesTests {
  static let post = #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":0}"#
  static let starred = """
    {"uid":"alice","author":"Alice","title":"T","body":"B","starCount":1,"stars":{"carol":true}}
    """
  static let world = """
    {"users":{"alice":{"username":"Alice"}},
     "posts":{"p":\(post),"s":\(starred)},
     "user-posts":{"alice":{"p":\(post),"s":\(starred)}},
     "post-comments":{"p":{"c":{"uid":"bob","author":"Bob","text":"hi"}}}}
    """

  private func mayWrite(
    _ uid: String?,
    _ changes: (Path, String)...,
    world: String = world
  ) throws -> Bool {
    let old = try Node(parsing: world)
    var new = old
    for (path, json) in changes { new.update(at: path, to: try Node(parsing: json)) }
    return try RuleSet.asset("quickstart.json").canWrite(
      changes.map(\.0),
      by: RuleSubject(uid.map { .object(("uid", .string($0))) }),
      now: 0,
      from: old,
      to: new
    ).isAllowed
  }

  private func mayRead(_ uid: String?, _ path: Path) throws -> Bool {
    try RuleSet.asset("quickstart.json").canRead(
      path,
      by: RuleSubject(uid.map { .object(("uid", .string($0))) }),
      now: 0,
      root: try Node(parsing: Self.world)
    ).isAllowed
  }

  @Test("Anyone reads posts, copies and comments")
  func publicReads() throws {
    for path: Path in ["posts", "user-posts/x", "post-comments/p"] {
      #expect(try mayRead(nil, path))
    }
  }

  @Test("Users can read only their own profile")
  func profiles() throws {
    #expect(try !mayRead(nil, "users/alice"))
    #expect(try !mayRead("bob", "users/alice"))
    #expect(try mayRead("alice", "users/alice"))
  }

  @Test("The owner can create a post in both places, even in an empty database")
  func create() throws {
    for world in [Self.world, "null"] {
      #expect(
        try mayWrite(
          "alice",
          ("posts/n", Self.post),
          ("user-posts/alice/n", Self.post),
          world: world
        )
      )
    }
  }

  @Test("Another user cannot create a post as the owner")
  func forge() throws {
    #expect(try !mayWrite("bob", ("posts/n", Self.post), ("user-posts/alice/n", Self.post)))
    #expect(try !mayWrite("bob", ("posts/n", Self.post)))
  }

  @Test("A whole-post transaction can star a post without stars")
  func firstStar() throws {
    let starred = Self.starred.replacing("carol", with: "bob")
    #expect(try mayWrite("bob", ("posts/p", starred)))
  }

  @Test("The second transaction, on the copy, is denied")
  func starOfCopy() throws {
    let starred = Self.starred.replacing("carol", with: "bob")
    #expect(try !mayWrite("bob", ("user-posts/alice/p", starred)))
  }

  @Test("A whole-post transaction on a post that another user starred is denied")
  func secondStar() throws {
    let both = Self.starred.replacing(#""carol":true"#, with: #""bob":true,"carol":true"#)
      .replacing(#""starCount":1"#, with: #""starCount":2"#)
    #expect(try !mayWrite("bob", ("posts/s", both)))
  }

  @Test("Writing a star and its count as single values is allowed")
  func starAlone() throws {
    #expect(try mayWrite("bob", ("posts/s/stars/bob", "true"), ("posts/s/starCount", "2")))
  }

  @Test("Starring for someone else is denied")
  func starForAnother() throws {
    #expect(try !mayWrite("bob", ("posts/p/stars/dave", "true")))
  }

  @Test(
    "The sample's defects are present: others' stars, counts, posts and comments can be changed"
  )
  func defects() throws {
    #expect(try mayWrite("bob", ("posts/s/stars/carol", "null")))
    #expect(try mayWrite("bob", ("posts/p/starCount", "9999")))
    #expect(try mayWrite("bob", ("posts/p/title", #""Mine""#)))
    #expect(try mayWrite("bob", ("posts/p", "null")))
    #expect(try mayWrite("bob", ("posts", "null")))
    #expect(try mayWrite("alice", ("post-comments/p/c/text", #""edited""#)))
    #expect(try mayWrite("alice", ("post-comments/p/c", "null")))
    #expect(try mayWrite("bob", ("post-comments/p/n", #"{"uid":"bob","text":""}"#)))
    #expect(try mayWrite("bob", ("post-comments/p/n", #"{"text":"hi"}"#)))
    #expect(try mayWrite("bob", ("posts/p/userIDsStarredBy/dave", "true")))
  }

  @Test("Presence is denied, as it would need its own rule")
  func presence() throws {
    #expect(try !mayWrite("bob", ("status/bob", "true")))
  }

  @Test("Nothing can be written without sign-in")
  func anonymous() throws {
    #expect(try !mayWrite(nil, ("posts/p/title", #""x""#)))
    #expect(try !mayWrite(nil, ("post-comments/p/n", #"{"text":"hi"}"#)))
    #expect(try !mayWrite(nil, ("user-posts/alice/p", "null")))
  }
}
