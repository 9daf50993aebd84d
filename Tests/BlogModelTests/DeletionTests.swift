import BlogModel
import RealtimeDatabase
import Testing

@Suite("Deleted posts and comments", .timeLimit(.minutes(1)))
struct DeletionTests {
  /// Writes, and returns the reason for which the server refused it.
  private func refusal(_ write: (@escaping BlogCompletion) -> Void) async -> String? {
    await withCheckedContinuation { continuation in
      write { continuation.resume(returning: $0.map { "\($0)" }) }
    }
  }

  @Test("leave keys that cannot be reused", arguments: ["blog.json", "blog-transactions.json"])
  func keys(rules: String) async throws {
    let server = try await BlogServer(shippedRules: rules)
    let alice = try server.signedInBlog("alice")
    let bob = try server.signedInBlog("bob")
    let tea = try await alice.post(title: "Tea", body: "b")
    let bread = try await alice.post(title: "Bread", body: "b")
    let asked = try await alice.comment(on: bread, text: "How?")
    let answer = try await bob.comment(on: bread, text: "So", answering: asked)
    _ = try await bob.comment(on: tea, text: "Hello")
    try await alice.perform(.deletePost(tea))
    try await alice.perform(.deleteComment(bread, commentID: asked))
    for other in [alice, bob] {
      let post = await refusal {
        other.perform(.post(tea, title: "Mine", body: "b"), completion: $0)
      }
      #expect(post?.contains("denied") == true)
      let comment = await refusal {
        other.perform(.comment(bread, commentID: asked, text: "No"), completion: $0)
      }
      #expect(comment?.contains("denied") == true)
    }
    #expect(try await bob.comments(on: bread).map(\.id) == [answer])
    #expect(try await bob.comments(on: tea).isEmpty)
    // To delete once more does no harm: so does a terminal that had no answer.
    #expect(await refusal { alice.perform(.deletePost(tea), completion: $0) } == nil)
  }

  @Test(
    "take along how many stars on a post its author has seen",
    arguments: ["blog.json", "blog-transactions.json"]
  )
  func seenStars(rules: String) async throws {
    let server = try await BlogServer(shippedRules: rules)
    let alice = try server.signedInBlog("alice")
    let tea = try await alice.post(title: "Tea", body: "b")
    try await server.signedInBlog("bob").perform(.star(tea, true))
    try await alice.mark(tea)
    let stars = try server.database(as: "alice").reference().child("seen/alice/stars")
    #expect(try await stars.getData().childSnapshots.map(\.key) == [tea])
    try await alice.perform(.deletePost(tea))
    #expect(try await !stars.getData().exists())
  }

  @Test("can be deleted under rules without a place for deleted keys", arguments: [true, false])
  func otherRules(isLive: Bool) async throws {
    let server = try await BlogServer(shippedRules: "quickstart.json")
    try await server.administer([
      "posts": ["-K": ["uid": "alice", "author": "alice", "title": "t", "body": "b"]],
      "user-posts": [
        "alice": ["-K": ["uid": "alice", "author": "alice", "title": "t", "body": "b"]]
      ],
      "post-comments": ["-K": ["-L": ["uid": "alice", "author": "alice", "text": "t"]]],
    ])
    let alice = try server.signedInBlog("alice")
    if isLive {
      let screen = try server.signedInScreen("alice")
      screen.blog.perform(.deleteComment("-K", commentID: "-L"))
      screen.blog.perform(.deletePost("-K"))
      try await screen.wait("both deletions") { screen in
        screen.all.contains(.succeeded(.deletePost("-K")))
          && screen.all.contains(.succeeded(.deleteComment("-K", commentID: "-L")))
      }
    } else {
      try await alice.perform(.deleteComment("-K", commentID: "-L"))
      try await alice.perform(.deletePost("-K"))
    }
    #expect(try await alice.posts(.recent).isEmpty)
    #expect(try await alice.comments(on: "-K").isEmpty)
  }
}
