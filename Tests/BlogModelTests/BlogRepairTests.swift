import BlogModel
import RealtimeCore
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Blog repair")
struct BlogRepairTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  private static let post: [String: any Sendable] = [
    "uid": "u", "author": "u", "title": "t", "body": "b", "starCount": 1, "stars": ["x": true],
  ]

  /// Damage that a program may have caused, and the faults to be found.
  struct Damage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The values written over an intact blog with one post.
    let values: [String: any Sendable]
    /// The paths of the faults.
    let faults: [String]
  }

  private static let damages: [Damage] = [
    Damage(
      testDescription: "a count that differs from the stars, in both copies",
      values: ["posts/p/starCount": 7, "user-posts/u/p/starCount": 7],
      faults: ["/posts/p", "/user-posts/u/p"]
    ),
    Damage(
      testDescription: "a count that is missing",
      values: ["posts/p/starCount": Removed.value],
      faults: ["/posts/p", "/user-posts/u/p"]
    ),
    Damage(
      testDescription: "a count that is text",
      values: ["posts/p/starCount": "many"],
      faults: ["/posts/p", "/user-posts/u/p"]
    ),
    Damage(
      testDescription: "copies that differ",
      values: ["user-posts/u/p/title": "other", "user-posts/u/p/body": Removed.value],
      faults: ["/user-posts/u/p"]
    ),
    Damage(
      testDescription: "a copy that is missing",
      values: ["user-posts/u/p": Removed.value],
      faults: ["/posts/p"]
    ),
    Damage(
      testDescription: "a star that is false",
      values: ["posts/p/stars/y": false, "user-posts/u/p/stars/y": false],
      faults: [
        "/posts/p", "/posts/p/stars/y", "/user-posts/u/p", "/user-posts/u/p/stars/y",
      ]
    ),
    Damage(
      testDescription: "a copy of no post",
      values: ["user-posts/u/gone": post],
      faults: ["/user-posts/u/gone"]
    ),
    Damage(
      testDescription: "a copy of the post of another",
      values: ["user-posts/v/p": post],
      faults: ["/user-posts/v/p"]
    ),
    Damage(
      testDescription: "comments on a post that is gone",
      values: ["post-comments/gone/c": ["uid": "u", "author": "u", "text": "x"]],
      faults: ["/post-comments/gone"]
    ),
    Damage(
      testDescription: "marks of what was read of a post that is gone",
      values: ["seen/u/posts/gone": "c"],
      faults: ["/seen/u/posts/gone"]
    ),
    Damage(
      testDescription: "a mark of a post that is gone",
      values: ["seen/u/marks/m001": ["post": "gone", "read": "c"] as [String: String]],
      faults: ["/seen/u/marks/m001"]
    ),
    Damage(
      testDescription: "a way to a comment that is gone, and one to a post that names nobody",
      values: ["mentions/ann/c": "p", "mentions/ann/p": "p"],
      faults: ["/mentions/ann/c", "/mentions/ann/p"]
    ),
    Damage(
      testDescription: "a tag that a post does not have, and an answer that is gone",
      values: ["tags/tea/p": "u", "replies/u/c": "p"],
      faults: ["/replies/u/c", "/tags/tea/p"]
    ),
    Damage(
      testDescription: "a number of stars on a post that is gone",
      values: ["seen/u/stars/gone": 3],
      faults: ["/seen/u/stars/gone"]
    ),
    Damage(
      testDescription: "several things at once",
      values: [
        "posts/p/starCount": 9, "user-posts/u/p": Removed.value, "user-posts/w/q": post,
        "post-comments/q/c": ["uid": "u", "author": "u", "text": "x"],
      ],
      faults: ["/post-comments/q", "/posts/p", "/posts/p", "/user-posts/w/q"]
    ),
  ]

  /// Stands for no value in a list of values.
  private enum Removed: Sendable { case value }

  private func damage(_ database: Database, _ values: [String: any Sendable]) async throws {
    let root = database.reference()
    try await root.setValue(["posts": ["p": Self.post], "user-posts": ["u": ["p": Self.post]]])
    for (path, value) in values.sorted(by: { $0.key < $1.key }) {
      if value is Removed {
        try await root.child(path).removeValue()
      } else {
        try await root.child(path).setValue(value)
      }
    }
  }

  private func check(_ database: Database) async throws -> BlogCheck {
    BlogCheck(try await database.reference().getData().node)
  }

  /// Repairs until no more faults are found, as the command does.
  private func repair(_ database: Database) async throws -> [BlogRepair.Outcome] {
    let blog = BlogRepair(database.reference())
    var outcomes: [BlogRepair.Outcome] = []
    for _ in 0..<4 {
      let found = try await check(database)
      let faults = (found.faults + found.leftovers).filter(\.remedy.isAutomatic)
      if faults.isEmpty { break }
      for fault in faults { outcomes.append(try await blog.repair(fault)) }
    }
    return outcomes
  }

  @Test("fixes every fault that has one correct fix and leaves no faults", arguments: damages)
  func repairs(_ damage: Damage) async throws {
    let database = try server.database()
    try await self.damage(database, damage.values)
    let before = try await check(database)
    #expect((before.faults + before.leftovers).map(\.path).sorted() == damage.faults)
    _ = try await repair(database)
    let after = try await check(database)
    #expect(after.faults == [] && after.leftovers == [])
    let sound = try #require(try await database.reference().getData().value as? [String: Any])
    #expect(Set(sound.keys) == ["posts", "user-posts"])
    let posts = try #require(sound["posts"] as? [String: [String: Any]])
    #expect(posts["p"]?["starCount"] as? Int == 1)
    #expect(posts["p"]?["title"] as? String == "t")
    #expect((posts["p"]?["stars"] as? [String: Bool]) == ["x": true])
    #expect((sound["user-posts"] as? [String: [String: Any]])?["u"]?.count == 1)
  }

  @Test("reports the content that it removes")
  func removed() async throws {
    let database = try server.database()
    try await damage(
      database,
      ["post-comments/gone/c": ["uid": "u", "author": "u", "text": "precious"]]
    )
    let outcome = try #require(try await repair(database).first)
    guard case .repaired(let what) = outcome else { throw Unexpected("\(outcome)") }
    #expect(what.contains("precious"))
  }

  @Test("leaves ambiguous faults unchanged for manual repair")
  func persons() async throws {
    let database = try server.database()
    try await damage(
      database,
      [
        "posts/q": ["title": "whose"], "posts/p/stars/z": "yes", "posts/p/starCount": 2,
        "user-posts/u/p/stars/z": "yes", "user-posts/u/p/starCount": 2,
        "post-comments/p/c": ["text": "whose"],
      ]
    )
    let before = try await database.reference().getData().exportedJSON
    let found = try await check(database)
    #expect(
      found.faults.map(\.path) == [
        "/posts/p/stars/z", "/posts/q", "/user-posts/u/p/stars/z", "/post-comments/p/c",
      ]
    )
    for fault in found.faults {
      #expect(!fault.remedy.isAutomatic)
      guard case .left = try await BlogRepair(database.reference()).repair(fault)
      else { throw Unexpected("\(fault) was not left") }
    }
    #expect(try await database.reference().getData().exportedJSON == before)
  }

  @Test("removes priorities from posts, copies and comments and copies none")
  func priorities() async throws {
    let database = try server.database()
    let heavy = String(repeating: "x", count: 100_000)
    let weighty: [String: any Sendable] = [".value": "t", ".priority": heavy]
    let star: [String: any Sendable] = [".value": true, ".priority": 1]
    try await damage(
      database,
      [
        "posts/p/title": weighty, "posts/p/stars/x": star,
        "user-posts/u/p": Removed.value, "posts/q": Self.post.merging(["title": weighty]) { $1 },
        "user-posts/u/q": Self.post,
        "post-comments/p/c": ["uid": "u", "author": "u", "text": "x", ".priority": heavy],
      ]
    )
    let found = try await check(database)
    #expect(
      found.faults.filter { $0.problem.contains("priority") }.map(\.path)
        == ["/posts/p", "/posts/q", "/post-comments/p/c"]
    )
    _ = try await repair(database)
    #expect(try await check(database).faults == [])
    let text = try await database.reference().getData().exportedJSON.text
    #expect(!text.contains("priority"))
    #expect(text.utf8.count < 2_000)
  }

  @Test("leaves overlong text for manual repair and does not copy it")
  func longTexts() async throws {
    let database = try server.database()
    let long = String(repeating: "x", count: 100_000)
    try await damage(
      database,
      [
        "posts/p/title": long, "posts/p/unknown": long,
        "post-comments/p/c": ["uid": "u", "author": long, "text": "x"],
      ]
    )
    let found = try await check(database)
    #expect(
      found.faults.map(\.path) == ["/posts/p", "/user-posts/u/p", "/post-comments/p/c"]
    )
    let blog = BlogRepair(database.reference())
    for fault in found.faults {
      guard case .left = try await blog.repair(fault)
      else { throw Unexpected("\(fault) was not left") }
    }
    let copy = try await database.reference().child("user-posts/u/p/title").getData()
    #expect(copy.value as? String == "t")
  }

  @Test("does nothing if a fault is already fixed")
  func gone() async throws {
    let database = try server.database()
    try await damage(
      database,
      ["user-posts/u/gone": Self.post, "user-posts/u/p/title": "other"]
    )
    let faults = try await check(database).faults
    #expect(faults.count == 2)
    _ = try await repair(database)
    for fault in faults {
      #expect(try await BlogRepair(database.reference()).repair(fault) == .gone)
    }
  }

  @Test("loses no stars that users add during the repair")
  func race() async throws {
    let database = try server.database()
    try await damage(
      database,
      ["posts/p/starCount": 70, "user-posts/u/p/starCount": 3, "user-posts/u/p/stars/q": true]
    )
    let names = (0..<12).map { "person\($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask { try await server.blog(name).perform(.star("p", true)) }
      }
      group.addTask { _ = try await self.repair(database) }
      try await group.waitForAll()
    }
    _ = try await repair(database)
    let check = try await check(database)
    #expect(check.faults == [])
    let stars = try await database.reference().child("posts/p/stars").getData().value
    #expect(Set((stars as? [String: Bool] ?? [:]).keys) == Set(names + ["x"]))
  }
}

extension BlogFault.Remedy {
  /// Whether the fault can be repaired without a person's decision.
  fileprivate var isAutomatic: Bool {
    if case .person = self { false } else { true }
  }
}
