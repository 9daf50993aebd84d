import Foundation
import Testing

extension EndToEnd {
  /// Many processes concurrently on one post.
  @Suite("Star race")
  struct StarRaceTests {
    @Test("20 processes toggle a star 50 times each, and the count is exact")
    func exactCount() throws {
      let sandbox = try Sandbox()
      let id = try sandbox.post("Race", by: "owner")
      let racers = try (1...20).map { number in
        // Half of the processes end with a star: an odd number of turns ends starred.
        let turns = number.isMultiple(of: 2) ? "50" : "51"
        let racer = ["--user", "racer\(number)", "--timeout", "120"]
        return try sandbox.start(["star", id, "--times", turns] + racer)
      }
      #expect(racers.map { $0.wait() } == Array(repeating: 0, count: 20))

      let post = try object(sandbox.hearth("show", id, "--json").output)
      let stars = try #require(post["stars"] as? [String: Bool])
      let expected = Set((1...20).filter { !$0.isMultiple(of: 2) }.map { "racer\($0)" })
      #expect(Set(stars.keys) == expected)
      #expect(post["starCount"] as? Int == 10)
      let check = try sandbox.hearth("fsck")
      #expect(check.output == "1 post, 0 comments, 10 stars: no fault\n")
    }

    @Test("Posts written while the server is killed are stored exactly once")
    func killedWhileWriting() throws {
      let sandbox = try Sandbox()
      var acknowledged: [String] = []
      for round in 1...4 {
        let outputs = (1...8).map { "\(sandbox.directory)/\(round).\($0)" }
        let writers = try outputs.map { output in
          let post = ["post", "--title", "t", "--body", "b", "--timeout", "60"]
          return try sandbox.start(post, output: output)
        }
        for _ in 1...3 {
          if let server = try sandbox.serverProcess() { kill(server, SIGKILL) }
        }
        #expect(writers.map { $0.wait() } == Array(repeating: 0, count: 8))
        for output in outputs {
          let text = try String(contentsOfFile: output, encoding: .utf8)
          acknowledged += text.split(separator: "\n").map(String.init)
        }
      }
      let stored = try object(sandbox.hearth("get", "/posts").output)
      #expect(Set(stored.keys) == Set(acknowledged))
      #expect(acknowledged.count == 32)
      #expect(try sandbox.hearth("fsck").output == "32 posts, 0 comments, 0 stars: no fault\n")
    }
  }
}
