import BlogModel
import RealtimeDatabase
import RealtimeServer
import Testing

@Suite("Star in both copies")
struct StarToggleTests {
  /// Nobody may write posts, but everybody may write their copies.
  private static let locked = #"""
    {"rules": {".read": true, "user-posts": {".write": true}, "posts": {".write": "false"}}}
    """#

  /// A post by bob, starred by alice at the given paths.
  private func post(in server: BlogServer, starredAt places: Set<String>) async throws {
    var values: [String: Any] = [:]
    for place in ["posts/p", "user-posts/bob/p"] {
      var post: [String: Any] = [
        "uid": "bob", "author": "bob", "title": "t", "body": "b", "starCount": 0,
      ]
      if places.contains(place) {
        post["starCount"] = 1
        post["stars"] = ["alice": true]
      }
      values[place] = post
    }
    try await server.administer(values)
  }

  /// The counts of the post and of the copy after alice was refused.
  private func refusal(
    of isStarred: Bool,
    starredAt places: Set<String>
  ) async throws -> [Int?] {
    let server = try await BlogServer(rules: .source(Self.locked))
    try await post(in: server, starredAt: places)
    let database = try server.database()
    let blog = Blog(database: database, me: try Author(userName: "alice"))
    await #expect(throws: DatabaseError.self) { try await blog.perform(.star("p", isStarred)) }
    let root = try await database.reference().getData()
    return ["posts/p", "user-posts/bob/p"].map {
      root.childSnapshot(forPath: "\($0)/starCount").value as? Int
    }
  }

  @Test("is added to the copy if the write is refused but the post already has it")
  func halfGiven() async throws {
    // As after a program that was killed between the two writes, or whose response was lost.
    let left = try await refusal(of: true, starredAt: ["posts/p"])
    #expect(left == [1, 1])
  }

  @Test(
    "is removed from the copy if the write is refused and the post lacks it",
    arguments: [true, false]
  )
  func halfTaken(isStarred: Bool) async throws {
    let left = try await refusal(of: isStarred, starredAt: ["user-posts/bob/p"])
    #expect(left == [0, 0])
  }

  @Test("changes nothing if the write is refused")
  func refused() async throws {
    let left = try await refusal(of: true, starredAt: [])
    #expect(left == [0, 0])
  }
}
