import BlogModel
import RealtimeDatabase
import Testing

@Suite("Blog check")
struct BlogCheckTests {
  private func faults(_ value: [String: any Sendable]) async throws -> [String] {
    let server = try await BlogServer()
    try await server.database().reference().setValue(value)
    return try await server.check().faults.map(\.description)
  }

  private let post: [String: any Sendable] = [
    "uid": "u", "author": "u", "title": "t", "body": "b", "starCount": 1, "stars": ["x": true],
  ]

  @Test("finds differing, missing and orphaned copies, and orphaned comments")
  func copies() async throws {
    var other = post
    other["title"] = "another"
    #expect(
      try await faults(["posts": ["p": post], "user-posts": ["u": ["p": other]]])
        == ["/user-posts/u/p: differs from /posts/p in title"]
    )
    #expect(
      try await faults(["posts": ["p": post]]) == ["/posts/p: has no copy at /user-posts/u/p"]
    )
    #expect(
      try await faults(["user-posts": ["u": ["p": post]]])
        == ["/user-posts/u/p: is a copy of a missing post"]
    )
    #expect(
      try await faults(["post-comments": ["p": ["c": ["text": "x"]]]])
        == ["/post-comments/p: has comments on a missing post"]
    )
  }
}
