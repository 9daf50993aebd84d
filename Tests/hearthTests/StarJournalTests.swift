import Foundation
import Testing

extension EndToEnd {
  /// What was to be starred is starred, whoever ends before it is done.
  @Suite("The journal of stars", .enabled(if: Tmux.isInstalled, "tmux is not installed"))
  struct StarJournalTests {
    @Test("A star that was cut off is carried out by the next terminal, not forgotten by a command")
    func unfinished() throws {
      let place = try Place()
      let written = try place.hearth("post", "--user", "bob", "--title", "t", "--body", "b")
      let id = try #require(written.lines.first)
      let server = try #require(try place.serverProcess())
      kill(server, SIGSTOP)
      let star = try place.hearth("star", id, "--user", "alice", "--timeout", "1")
      #expect(star.status != 0, "\(star.output)\(star.errors)")
      kill(server, SIGCONT)
      let list = try place.hearth("list", "--user", "alice", "--json")
      #expect(list.status == 0, "\(list.errors)")
      let tmux = Tmux(place)
      _ = try tmux.open("\(Place.program) --user alice")
      try waitUntil("both places have the star", within: 60) {
        let root = try object(place.hearth("export").output)
        let post = (root["posts"] as? [String: [String: Any]])?[id]
        let copies = root["user-posts"] as? [String: [String: [String: Any]]]
        return [post, copies?["bob"]?[id]].allSatisfy { $0?["starCount"] as? Int == 1 }
      }
    }
  }
}
