import Foundation
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@testable import HearthProgram

@Suite("The rules at the local socket", .timeLimit(.minutes(1)))
struct LocalRulesTests {
  private let directory: TemporaryDirectory
  private let server: DatabaseServer
  private let owner: Database
  private let alice: Database

  init() async throws {
    directory = try TemporaryDirectory()
    var options = DatabaseServer.Options(socketPath: directory.file("s"))
    options.localRules = try LocalRules.compiled()
    server = try await DatabaseServer.start(options, stores: MemoryTreeStores())
    let url = "unix:\(directory.file("s"))?ns=hearth"
    owner = try Database(url: url)
    var user = DatabaseOptions()
    user.localUser = "alice"
    alice = try Database(url: url, options: user)
  }

  /// The kind of error with which alice's change of her star at some places is refused.
  private func refusal(of isStarred: Bool, at places: String...) async -> DatabaseError.Kind? {
    var values: [String: Any] = [:]
    for place in places {
      values["\(place)/stars/alice"] = isStarred ? true : NSNull()
      values["\(place)/starCount"] = ServerValue.increment(isStarred ? 1 : -1)
    }
    do {
      try await alice.reference().updateChildValues(values)
      return nil
    } catch {
      return (error as? DatabaseError)?.kind
    }
  }

  @Test("A star is in a post and its copy, or in neither")
  func bothPlaces() async throws {
    let (post, copy) = ("posts/p", "user-posts/bob/p")
    let value: [String: Any] = [
      "uid": "bob", "author": "bob", "title": "t", "body": "b", "starCount": 0,
    ]
    try await owner.reference().updateChildValues([post: value, copy: value, "posts/old": value])
    #expect(await refusal(of: true, at: post) == .permissionDenied)
    #expect(await refusal(of: true, at: copy) == .permissionDenied)
    #expect(await refusal(of: true, at: post, copy) == nil)
    #expect(await refusal(of: false, at: copy) == .permissionDenied)
    #expect(await refusal(of: false, at: post) == .permissionDenied)
    #expect(await refusal(of: false, at: post, copy) == nil)
    #expect(await refusal(of: true, at: "posts/old") == nil, "There is no copy")
    // What an earlier version has left in one place can be completed.
    try await owner.reference().updateChildValues([
      "\(copy)/stars/alice": true, "\(copy)/starCount": 1,
    ])
    #expect(await refusal(of: true, at: post) == nil)
    await alice.close()
    await owner.close()
    await server.stop()
  }

  @Test("A comment is refused where there is no post, and by whom its author blocks")
  func comments() async throws {
    let comment: [String: Any] = ["uid": "alice", "author": "alice", "text": "t"]
    try await owner.reference().updateChildValues(["posts/p/uid": "bob", "posts/q/uid": "carl"])
    try await owner.reference().updateChildValues(["blocked/carl/alice": true])
    func refusal(_ changes: [String: Any]) async -> DatabaseError.Kind? {
      do {
        try await alice.reference().updateChildValues(changes)
        return nil
      } catch {
        return (error as? DatabaseError)?.kind
      }
    }
    #expect(await refusal(["post-comments/p/c": comment]) == nil)
    #expect(await refusal(["post-comments/q/c": comment]) == .permissionDenied)
    #expect(await refusal(["post-comments/none/c": comment]) == .permissionDenied)
    #expect(await refusal(["posts/r/uid": "alice", "post-comments/r/c": comment]) == nil)
    #expect(await refusal(["posts/p": NSNull(), "post-comments/p": NSNull()]) == nil)
    #expect(await refusal(["post-comments/p/c/text": "late"]) == .permissionDenied)
    await alice.close()
    await owner.close()
    await server.stop()
  }
}
