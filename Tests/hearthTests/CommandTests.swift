import Foundation
import Testing

extension EndToEnd {
  /// The program without a screen.
  @Suite("Commands")
  struct CommandTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("The server exits some seconds after the last client disconnects")
    func serverLeaves() throws {
      try sandbox.hearth("list")
      let server = try #require(try sandbox.serverProcess())
      let name = try String(contentsOfFile: "/proc/\(server)/comm", encoding: .utf8)
      #expect(name == "hearth\n")
      try waitUntil("the server leaves") { try sandbox.serverProcess() == nil }
    }

    @Test("Of programs that start together, one starts the server and all use it")
    func together() throws {
      let sandbox = try Sandbox()
      let posts = try (0..<10).map { number in
        try sandbox.start("post", "--title", "\(number)", "--body", "b")
      }
      for post in posts { #expect(post.wait() == 0) }
      let list = try sandbox.hearth("list", "recent", "--json").output
      #expect(list.split(separator: "\n").count == 10)
      let log = sandbox.directory + "/state/hearth/server.log"
      let lines = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      #expect(!lines.contains("in use by another server"), "\(lines)")
    }
  }
}
