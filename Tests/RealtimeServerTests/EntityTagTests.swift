import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@Suite("REST ETags", .timeLimit(.minutes(1)))
struct EntityTagTests {
  private let flag = "X-Firebase-ETag: true"

  @Test("The ETag is the hash of the data, or null_etag if there is none")
  func tags() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    let empty = try await http.request("GET", "/a.json", lines: [flag])
    #expect(empty.lines["etag"] == "null_etag")
    let put = try await http.request("PUT", "/a.json", "10", lines: [flag])
    #expect(put.lines["etag"] == Node.integer(10).hash)
    #expect(try await http.request("GET", "/a.json").lines["etag"] == nil)
    let decided = try await http.request(
      "PUT",
      "/a.json",
      #"{".sv":{"increment":5}}"#,
      lines: [flag]
    )
    #expect(decided.body == "15" && decided.lines["etag"] == Node.integer(15).hash)
    let removed = try await http.request("DELETE", "/a.json", lines: [flag])
    #expect(removed.lines["etag"] == "null_etag")
    await server.stop()
  }

  @Test(
    "A matching If-None-Match gets an empty 304",
    arguments: ["TAG", "\"TAG\"", "W/\"TAG\"", "other, TAG", "*"]
  )
  func notModified(condition: String) async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/a.json", "10")
    let tag = Node.integer(10).hash
    let line = "if-none-match: " + condition.replacing("TAG", with: tag)
    let same = try await http.request("GET", "/a.json", lines: [line])
    #expect(same.status == 304 && same.body.isEmpty && same.lines["etag"] == tag)
    _ = try await http.request("PUT", "/b.json", "11")
    let other = try await http.request("GET", "/b.json", lines: ["if-none-match: \(tag)"])
    #expect(other.status == 200 && other.body == "11")
    #expect(other.lines["etag"] == Node.integer(11).hash)
    await server.stop()
  }

  @Test("A star matches every ETag except that of missing data")
  func star() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    let absent = try await http.request("GET", "/a.json", lines: ["if-none-match: *"])
    #expect(absent.status == 200 && absent.body == "null")
    #expect(absent.lines["etag"] == "null_etag")
    for value in ["1", "2"] {
      let answer = try await http.request("PUT", "/a.json", value, lines: ["if-match: *"])
      #expect(answer.status == 200 && answer.body == value)
    }
    await server.stop()
  }

  @Test("A condition may list at most sixteen ETags", arguments: ["if-match", "if-none-match"])
  func count(name: String) async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/a.json", "1")
    let method = name == "if-match" ? "PUT" : "GET"
    let tags = (2...16).map { "x\($0)" } + [Node.integer(1).hash]
    let fitting = "\(name): " + tags.joined(separator: ", ")
    let answer = try await http.request(method, "/a.json", "1", lines: [fitting])
    #expect(answer.status == (method == "PUT" ? 200 : 304))
    let refused = try await http.request(method, "/a.json", "2", lines: [fitting + ", x"])
    #expect(refused.status == 400)
    #expect(refused.body == RESTCase.error("a condition names more than 16 versions"))
    #expect(try await http.request("GET", "/a.json").body == "1")
    await server.stop()
  }

  @Test("If-Match decides whether a write is applied")
  func conditions() async throws {
    let server = try await DatabaseServer.startForTest()
    let http = try await HTTPProbe(server.address)
    let tag = Node.integer(1).hash
    let created = try await http.request("PUT", "/a.json", "1", lines: ["if-match: null_etag"])
    #expect(created.status == 200 && created.body == "1")
    let again = try await http.request("PUT", "/a.json", "2", lines: ["if-match: null_etag"])
    #expect(again.status == 412 && again.body == "1" && again.lines["etag"] == tag)
    let listed = try await http.request(
      "PUT",
      "/a.json",
      "3",
      lines: ["if-match: \"x\", \"\(tag)\""]
    )
    #expect(listed.status == 200 && listed.body == "3")
    let stale = try await http.request("DELETE", "/a.json", lines: ["if-match: \(tag)"])
    #expect(stale.status == 412 && stale.body == "3")
    let removed = try await http.request(
      "DELETE",
      "/a.json",
      lines: ["if-match: \(Node.integer(3).hash)"]
    )
    #expect(removed.status == 200 && removed.body == "null")
    await server.stop()
  }

  @Test("Fifty racing increments each apply exactly once")
  func increments() async throws {
    let server = try await DatabaseServer.startForTest()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          let http = try await HTTPProbe(server.address)
          var answer = try await http.request("GET", "/n.json", lines: ["X-Firebase-ETag: true"])
          repeat {
            let tag = try #require(answer.lines["etag"])
            let next = (Int(answer.body) ?? 0) + 1
            answer = try await http.request(
              "PUT",
              "/n.json",
              "\(next)",
              lines: ["if-match: \(tag)"]
            )
          } while answer.status == 412
          #expect(answer.status == 200)
        }
      }
      try await group.waitForAll()
    }
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/n.json").body == "50")
    await server.stop()
  }
}
