import RealtimeCore
import RealtimeServer
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
              "carol":{"username":"Name"},"dave":{"username":"Dave"}},
     "blocked":{"alice":{"dave":true}},
     "posts":{"p":\(post),"s":\(starred)},
     "user-posts":{"alice":{"p":\(post),"s":\(starred)}},
     "post-comments":{"p":{"c":{"uid":"bob","author":"Bob","text":"hi"}}}}
    """

  /// The rules for users who do not trust each other, those for friends, and the published ones.
  private static let shared = "blog.json"
  private static let friendly = "blog-transactions.json"
  private static let sample = "quickstart.json"
  /// All of them, as it takes long to read them.
  private static let rules: Result<[String: RuleSet], any Error> = Result {
    try [shared, friendly, sample].reduce(into: [:]) { $0[$1] = try RuleSet.asset($1) }
  }

  private func decision(
    _ attempt: BlogAttempt,
    _ world: String = world,
    by rules: String = shared,
    now: Int64 = 0
  ) throws -> Decision {
    let old = try Node(parsing: world)
    var new = old
    for (path, json) in attempt.changes { new.update(at: path, to: try Node(parsing: json)) }
    let rules = try #require(Self.rules.get()[rules])
    let auth: JSONValue? = attempt.uid.map { .object(("uid", .string($0))) }
    let decision = rules.canWrite(
      attempt.changes.map(\.path),
      by: RuleSubject(auth),
      now: now,
      from: old,
      to: new,
      explaining: true
    )
    if attempt.changes.count == 1, let path = attempt.changes.first?.path {
      let isAllowed = decision.isAllowed
      rules.expect(isAllowed, onReplacing: path, by: new[path], in: old, auth: auth, now: now)
    }
    return decision
  }

  @Test("Each attempt to write is allowed or denied as expected", arguments: BlogAttempt.all)
  func attempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt)
    #expect(decision.isAllowed == attempt.isAllowed, "\(decision.explanation)")
  }

  @Test(
    "Each attempt to write under the friends' rules is allowed or denied as expected",
    arguments: BlogAttempt.all.filter { $0.isAllowedAmongFriends != nil }
  )
  func friendlyAttempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt, by: Self.friendly)
    #expect(decision.isAllowed == attempt.isAllowedAmongFriends, "\(decision.explanation)")
  }

  @Test(
    "Each attempt to write under the published sample's rules is allowed or denied as expected",
    arguments: BlogAttempt.ofSample
  )
  func sampleAttempt(_ attempt: BlogAttempt) throws {
    let decision = try decision(attempt, by: Self.sample)
    #expect(decision.isAllowed == attempt.isAllowed, "\(decision.explanation)")
    // Data at other places does not matter to what may be created.
    guard attempt.name.hasPrefix("the owner creates") else { return }
    #expect(try self.decision(attempt, "null", by: Self.sample).isAllowed)
  }

  @Test("The attempts of each kind are read")
  func attempts() {
    let friends = BlogAttempt.all.compactMap(\.isAllowedAmongFriends)
    #expect(BlogAttempt.ofSample.count == 22)
    #expect(BlogAttempt.all.count > 200 && BlogAttempt.all.allSatisfy { !$0.changes.isEmpty })
    #expect(friends.count(where: \.self) > BlogAttempt.all.count(where: \.isAllowed))
  }

  @Test("A post from before the rules can be starred even if it could not be written today")
  func oldPost() throws {
    let old = Self.post.replacing(#""T""#, with: #""\u001b[2J""#)
    let starred = old.replacing(#"t":0"#, with: #"t":1,"stars":{"bob":true}"#)
    let put = BlogAttempt("star", as: "bob", ("posts/p", starred), allowed: true)
    let update = BlogAttempt(
      "update",
      as: "bob",
      ("posts/p/stars/bob", "true"),
      ("posts/p/starCount", "1"),
      ("user-posts/alice/p/stars/bob", "true"),
      ("user-posts/alice/p/starCount", "1"),
      allowed: true
    )
    let weighty = old.replacing(#""B""#, with: #"{".value":"B",".priority":"p"}"#)
    for post in [old, old.replacing(#","starCount":0"#, with: ""), weighty] {
      let world = #"{"posts":{"p":\#(post)},"user-posts":{"alice":{"p":\#(post)}}}"#
      #expect(try decision(update, world).isAllowed)
      guard post != weighty else { continue }
      #expect(try decision(put, world, by: Self.friendly).isAllowed)
    }
  }

  @Test(
    "A key must be at most a month old, which allows for offline writes",
    arguments: [shared, friendly]
  )
  func ages(rules: String) throws {
    let day: Int64 = 86_400_000
    // A key tells its time by its first characters, in steps of less than five hours.
    let step: Int64 = 1 << 24
    for made in [1_764_000_000_000, 1_700_000_001_234, 1 << 40, 4_000_000_000_000] as [Int64] {
      let key = PushID.timePart(made) + "ncomment0001"
      let comment = BlogAttempt(
        "comment",
        as: "carol",
        (Path(wire: "post-comments/p/\(key)"), #"{"uid":"carol","author":"Name","text":"hi"}"#),
        allowed: true
      )
      let post = BlogAttempt(
        "post",
        as: "alice",
        (Path(wire: "posts/\(key)"), Self.post),
        (Path(wire: "user-posts/alice/\(key)"), Self.post),
        allowed: true
      )
      for attempt in [comment, post] {
        func isAllowed(after age: Int64) throws -> Bool {
          try decision(attempt, by: rules, now: made + age).isAllowed
        }
        for age in [0, 1, step, day, 7 * day, 30 * day] {
          #expect(try isAllowed(after: age), "\(attempt.name) of \(made) after \(age)")
        }
        for age in [-step, -day, 31 * day + 1, 32 * day, 400 * day] {
          #expect(try !isAllowed(after: age), "\(attempt.name) of \(made) after \(age)")
        }
        let gone =
          Self.world.dropLast()
          + #","deleted":{"p":{"\#(key)":"carol"},"\#(key)":{"\#(key)":"alice"}}}"#
        #expect(try !decision(attempt, String(gone), by: rules, now: made).isAllowed)
      }
    }
  }

  @Test("What was deleted can be deleted again")
  func deletingTwice() throws {
    let world = #"{"deleted":{"p":{"p":"alice","c":"bob"}}}"#
    let post = BlogAttempt(
      "post",
      as: "alice",
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      ("post-comments/p", "null"),
      ("deleted/p/p", #""alice""#),
      allowed: true
    )
    let comment = BlogAttempt(
      "comment",
      as: "bob",
      ("post-comments/p/c", "null"),
      ("deleted/p/c", #""bob""#),
      allowed: true
    )
    for attempt in [post, comment] { #expect(try decision(attempt, world).isAllowed) }
  }

  @Test("Dangling entries of earlier versions can be removed")
  func oldEntries() throws {
    let world =
      Self.world.dropLast() + #","replies":{"bob":{"x":"p","c":"p"}},"#
      + #""mentions":{"bob":{"x":"p","c":"p","p":"p","y":"y"}}}"#
    for (path, isAllowed) in [
      ("replies/bob/x", true), ("replies/bob/c", false), ("mentions/bob/x", true),
      ("mentions/bob/c", false), ("mentions/bob/p", false), ("mentions/bob/y", true),
    ] {
      let attempt = BlogAttempt(path, as: "carol", (Path(wire: path), "null"), allowed: isAllowed)
      #expect(try decision(attempt, String(world)).isAllowed == isAllowed, "\(path)")
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
      "typing/p", "reading/alice", "seen/bob", "replies/bob", "following/bob", "muted/bob",
      "blocked/bob",
      "bookmarks/bob", "searches/bob", "mentions", "mentions/bob",
      "tags/tea",
    ]
    for path in places {
      #expect(rules.canRead(path, by: RuleSubject(bob), now: 0, root: root).isAllowed)
      #expect(!rules.canRead(path, by: .nobody, now: 0, root: root).isAllowed)
    }
    // Read marks are private to their user, so nobody may read everything.
    let others: [Path] = [
      "/", "reading", "seen", "seen/alice", "unknown", "replies", "replies/alice", "following",
      "following/alice", "muted", "muted/alice", "blocked", "blocked/alice", "bookmarks",
      "bookmarks/alice", "searches", "searches/alice",
    ]
    for path in others {
      #expect(!rules.canRead(path, by: RuleSubject(bob), now: 0, root: root).isAllowed)
    }
  }

  @Test("In the published sample anyone reads posts, and only users themselves their profile")
  func readingSample() throws {
    let rules = try RuleSet.asset(Self.sample)
    let root = try Node(parsing: Self.world)
    let readers: [(uid: String?, path: Path, mayRead: Bool)] = [
      (nil, "posts", true), (nil, "user-posts/x", true), (nil, "post-comments/p", true),
      (nil, "users/alice", false), ("bob", "users/alice", false), ("alice", "users/alice", true),
    ]
    for (uid, path, mayRead) in readers {
      let subject = RuleSubject(uid.map { .object(("uid", .string($0))) })
      #expect(rules.canRead(path, by: subject, now: 0, root: root).isAllowed == mayRead, "\(path)")
    }
  }

  @Test("A blocked user cannot see what the person reads", arguments: [shared, friendly])
  func blockedReader(file: String) throws {
    let rules = try RuleSet.asset(file)
    let root = try Node(parsing: #"{"blocked":{"alice":{"bob":true}}}"#)
    let bob = RuleSubject(.object(("uid", .string("bob"))))
    let carol = RuleSubject(.object(("uid", .string("carol"))))
    #expect(!rules.canRead("reading/alice", by: bob, now: 0, root: root).isAllowed)
    #expect(!rules.canRead("reading/alice/t1", by: bob, now: 0, root: root).isAllowed)
    #expect(rules.canRead("reading/alice", by: carol, now: 0, root: root).isAllowed)
    #expect(rules.canRead("reading/carol", by: bob, now: 0, root: root).isAllowed)
  }

  @Test("Posts are indexed by star count", arguments: [shared, friendly])
  func indexes(file: String) throws {
    let rules = try RuleSet.asset(file)
    #expect(rules.isIndexed("posts", by: .child("starCount")))
    #expect(rules.isIndexed("user-posts/alice", by: .child("starCount")))
    #expect(!rules.isIndexed("post-comments/p", by: .child("starCount")))
    #expect(rules.isIndexed("mentions/alice", by: .child("key")))
    #expect(rules.isIndexed("replies/alice", by: .child("key")))
  }
}
