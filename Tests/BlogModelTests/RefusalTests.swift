import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import Testing

@testable import BlogModel
@testable import RealtimeDatabase

@Suite("Refusal messages")
struct RefusalTests {
  private let refusal = DatabaseErrorText(uid: "alice")

  private func denied(_ reason: String, at path: String? = "/") -> DatabaseError {
    DatabaseError(DatabaseError.Kind.permissionDenied, path: path, reason: reason)
  }

  @Test("Without an explanation, the message names the path and a command that finds the rule")
  func untold() {
    #expect(
      refusal.text(denied("Permission denied"), for: .write, at: "/posts/p")
        == "Permission denied at /posts/p; \"hearth rules explain --as alice --write /posts/p VALUE\" "
        + "tells whoever runs the server which rule"
    )
    #expect(
      refusal.text(denied("Permission denied", at: "/user-posts/bob/p"), for: .read, at: "/posts/p")
        .contains("--read /user-posts/bob/p")
    )
  }

  @Test("What is not there was deleted for somebody who has seen it")
  func gone() {
    let post = refusal.text(BlogError.notFound("p"), for: .write, at: "/posts/p")
    #expect(post == "the post was deleted")
    let comment = refusal.text(BlogError.commentNotFound("c"), for: .write, at: "/posts/p")
    #expect(comment == "the comment was deleted")
  }

  @Test("Without an account, the message says how to sign in, even if there was one at the start")
  func withoutAccount() {
    let advice = NIOLockedValueBox<String?>(nil)
    let refusal = DatabaseErrorText(uid: "alice", signIn: { advice.withLockedValue(\.self) })
    var text: String { refusal.text(denied("Permission denied"), for: .write, at: "/posts/p") }
    #expect(text.hasPrefix("Permission denied at /posts/p"))
    advice.withLockedValue { $0 = ":account signs in" }
    #expect(text == "You are reading without an account; :account signs in")
  }

  @Test("With an explanation, the message names the rule, its expression and its variables")
  func told() {
    let explanation = """
      Permission denied: .write of /posts/$post (line 3) at /posts/p: auth.uid === 'bob' → false
        $post = "p"
        auth = {"uid":"alice"}
      """
    #expect(
      refusal.text(denied(explanation), for: .write, at: "/posts/p")
        == "Permission denied at /posts/p: .write of /posts/$post (line 3) at /posts/p: "
        + "auth.uid === 'bob' → false, where $post = \"p\", auth = {\"uid\":\"alice\"}"
    )
    #expect(
      refusal.text(denied("Permission denied: no rule grants this"), for: .write, at: "/posts/p")
        == "Permission denied at /posts/p: no rule grants this"
    )
  }

  @Test(
    "A query is written as the server's parameters, and read back the same",
    arguments: [
      Query(index: .key, limit: Query.Limit(10, side: .last)),
      Query(index: .priority, limit: Query.Limit(1, side: .first)),
      Query(index: .value, start: QueryBound(.bool(true)), end: QueryBound(.bool(true))),
      Query(index: .key, start: QueryBound(.string("-a&b=c%d+e"), isInclusive: false)),
      Query(
        index: .child(Path(wire: "a/b \"c\"")),
        start: QueryBound(.string("ü'\u{1F600}"), key: .key("k,\"1"), isInclusive: false),
        end: QueryBound(.integer(-3), isInclusive: false),
        limit: Query.Limit(7, side: .last)
      ),
      Query(
        index: .child(Path(wire: "stars")),
        start: QueryBound(nil),
        end: QueryBound(.double(1.5))
      ),
    ]
  )
  func restParameters(_ query: Query) throws {
    #expect(try Query(restParameters: query.restParameters) == query, "\(query.restParameters)")
  }

  @Test("A refusal by a real server names the path for lists and for every kind of write")
  func real() async throws {
    let rules = #"{"rules": {"users": {".read": true, ".write": true}}}"#
    let server = try await BlogServer(rules: .source(rules))
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list is refused") { probe in
      probe.all.contains { event in
        guard case .feedFailed(.recent, let reason) = event else { return false }
        return reason.contains("at /posts;")
          && reason.contains("\"hearth rules explain --request '/a b/refused.json'\" tells")
      }
    }
    alice.blog.request(.open("p"))
    try await alice.wait("the post and its comments are refused") { probe in
      ["/posts/p", "/post-comments/p"].allSatisfy { path in
        probe.all.contains { event in
          guard case .postFailed("p", let reason) = event else { return false }
          return reason.contains("at \(path);")
        }
      }
    }
    alice.blog.request(.close("p"))
    let id = alice.blog.post(title: "t", body: "b")
    let comment = alice.blog.comment(on: id, text: "c")
    alice.blog.perform(.star(id, true))
    try await alice.wait("three refusals") { $0.refusals.count == 3 }
    #expect(alice.refusals.contains { $0.hasPrefix("Permission denied at /posts/\(id);") })
    _ = alice.blog.comment(on: id, text: String(repeating: "long ", count: 1_800))
    try await alice.wait("four refusals") { $0.refusals.count == 4 }
    #expect(alice.refusals.allSatisfy { $0.count < 300 })
    alice.blog.mark(.allRead)
    try await alice.wait("a refused mark, before its answer") { probe in
      guard let answer = probe.all.firstIndex(of: .markAnswered) else { return false }
      return probe.all[..<answer].contains { event in
        guard case .markRefused(.allRead, let reason) = event else { return false }
        return reason.contains("Permission denied at /")
      }
    }
    // What is kept has all that was asked or written.
    let kept = server.refused.withLockedValue { $0 }
    #expect(kept.contains { $0["read"] == .string("/posts") && $0["query"]?.string != nil })
    let written = kept.filter { $0["as"] == .string("alice") && $0["update"] == .bool(true) }
    #expect(
      written.contains { $0["data"]?["post-comments/\(id)/\(comment)"]?["text"] == .string("c") }
    )
    #expect(written.contains { $0.text.utf8.count > 9_000 })
  }
}
