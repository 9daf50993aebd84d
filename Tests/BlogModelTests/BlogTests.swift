import BlogModel
import Foundation
import RealtimeCore
import RealtimeDatabase
import Testing

@Suite("Blog")
struct BlogTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  @Test("writes a post to both paths at once, with its author's name")
  func post() async throws {
    let blog = try server.blog("alice")
    let id = try await blog.post(title: "Tea", body: "Come over")
    let root = try await server.database().reference().getData()
    let post = root.childSnapshot(forPath: "posts/\(id)")
    #expect(
      post.json
        == #"{"author":"alice","body":"Come over","starCount":0,"title":"Tea","uid":"alice"}"#
    )
    #expect(post.json == root.childSnapshot(forPath: "user-posts/alice/\(id)").json)
    #expect(root.childSnapshot(forPath: "users/alice/username").value as? String == "alice")
    let read = try await blog.post(id)
    #expect(read.title == "Tea" && read.body == "Come over" && read.author == "alice")
    #expect(abs(Double(try #require(read.createdAt)) / 1_000 - Date().timeIntervalSince1970) < 60)
  }

  @Test("gives a reply a later key than its comment, even if clocks disagree")
  func keyOfAnAnswer() async throws {
    let blog = try server.blog("alice")
    for lead in [-60_000, 0, 5, 60_000] as [Int64] {
      let time = Int64(Date().timeIntervalSince1970 * 1_000) + lead
      let comment = PushID.timePart(time) + "zzzzzzzzzzzz"
      let answer = blog.newComment(on: "p", answering: comment)
      #expect(ChildKey(comment) < ChildKey(answer))
      #expect(PushID.time(of: answer) != nil)
    }
    #expect(PushID.time(of: blog.newComment(on: "p", answering: "first")) != nil)
  }

  @Test(
    "reads malformed posts without failing",
    arguments: [
      "{\"title\":5,\"body\":{\"x\":1},\"starCount\":\"many\",\"stars\":true}",
      "{\"uid\":[1,2],\"stars\":{\"a\":false,\"b\":true},\"starCount\":1e300}",
      "{\"author\":null,\"x\":1}",
    ]
  )
  func tolerance(json: String) async throws {
    let database = try server.database()
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
    try await database.reference(withPath: "posts/p").setValue(value)
    let post = try await server.blog("alice").post("p")
    #expect(post.title.isEmpty)
    #expect(post.stars.isSubset(of: ["b"]))
  }

  @Test("lists the newest hundred posts, newest first, and the top posts, most stars first")
  func lists() async throws {
    let blog = try server.blog("alice")
    var ids: [PostID] = []
    for number in 1...101 { ids.append(try await blog.post(title: "\(number)", body: "b")) }
    let recent = try await blog.posts(.recent)
    #expect(recent.map(\.id) == ids.dropFirst().reversed())
    for index in [3, 50] { try await blog.perform(.star(ids[index], true)) }
    try await server.blog("bob").perform(.star(ids[3], true))
    let top = try await blog.posts(.top)
    #expect(top.prefix(3).map(\.id) == [ids[3], ids[50], ids[100]])
    #expect(try await blog.posts(.myTop).prefix(2).map(\.id) == [ids[3], ids[50]])
    #expect(try await server.blog("bob").posts(.mine).isEmpty)
  }

  @Test("deletes a post with its comments, but only for its author")
  func deletion() async throws {
    let (alice, bob) = (try server.blog("alice"), try server.blog("bob"))
    let id = try await alice.post(title: "t", body: "b")
    let comment = try await bob.comment(on: id, text: "c")
    await #expect(throws: BlogError.notMine("post \(id)", owner: "alice")) {
      try await bob.perform(.deletePost(id))
    }
    await #expect(throws: BlogError.notMine("comment \(comment)", owner: "bob")) {
      try await alice.perform(.deleteComment(id, commentID: comment))
    }
    try await alice.perform(.deletePost(id))
    await #expect(throws: BlogError.notFound(id)) { try await alice.post(id) }
    let check = try await server.check()
    #expect(check.faults.isEmpty && check.postCount == 0 && check.commentCount == 0)
  }

  @Test("keeps both copies consistent when one user toggles a star on several terminals")
  func oneUserTwice() async throws {
    let id = try await server.blog("owner").post(title: "t", body: "b")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for terminal in 0..<4 {
        let blog = try server.blog("fan")
        group.addTask {
          for turn in 0..<10 {
            try await blog.perform(.star(id, (terminal + turn).isMultiple(of: 2)))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await server.check().faults == [])
  }

  @Test("does not recreate a deleted post when it is starred")
  func starOnDeleted() async throws {
    let owner = try server.blog("owner")
    let id = try await owner.post(title: "t", body: "b")
    try await owner.perform(.deletePost(id))
    await #expect(throws: BlogError.notFound(id)) {
      try await server.blog("fan").perform(.star(id, true))
    }
    #expect(try await server.check().postCount == 0)
  }

  @Test("rejects invalid IDs")
  func refusals() async throws {
    let blog = try server.blog("alice")
    for id in ["", "a.b", "a/b", "a\u{1}b", String(repeating: "x", count: 760)] {
      await #expect(throws: BlogError.notFound(id)) { try await blog.post(id) }
      await #expect(throws: BlogError.notFound(id)) { try await blog.perform(.star(id, true)) }
    }
  }
}
