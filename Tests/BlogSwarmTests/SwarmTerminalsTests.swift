import Testing

@testable import HearthLab

@Suite("SwarmTerminals")
struct SwarmTerminalsTests {
  @Test("A list line is parsed as a post with its stars")
  func row() {
    let line = "  hot 1 · from swarm1                 swarm1                      now  ★   12"
    #expect(SwarmTerminals.row(line) == CapturedScreen.Row(title: "hot 1", stars: 12))
    #expect(SwarmTerminals.row("  gnihton · by others   now  ☆    0") == nil)
    #expect(SwarmTerminals.row("") == nil)
  }

  @Test("Lists are compared without selection, unread marks and terminal names")
  func list() {
    let one = ["head", "────", "▌ hot 1", "  hot 0", "────", "help", "terminal0", ""]
    let two = ["head", "────", " •hot 1", "▌ hot 0", "────", "help", "terminal1", ""]
    #expect(SwarmTerminals.list(one) == ["  hot 1", "  hot 0"])
    #expect(SwarmTerminals.list(one) == SwarmTerminals.list(two))
  }

  @Test("Lists are compared with stars but without ages")
  func age() {
    func list(_ end: String) -> [String] {
      SwarmTerminals.list(["head", "────", "  hot 1 · by ann      ann  \(end)", "────", "?", "t"])
    }
    #expect(list(" now  ☆    3") == list("  1m  ☆    3"))
    #expect(list(" now  ☆    3") == list("  1m   ❝ 3  ☆    3"))
    #expect(list(" now  ☆    3") == list("  1m ❝ 10+  ☆    3"))
    #expect(list(" now  ☆    3") != list(" now  ☆    4"))
    #expect(list(" now  ☆    3") != list(" now  ★    3"))
    #expect(SwarmTerminals.row(list(" now  ☆    3")[0]) == .init(title: "hot 1", stars: 3))
  }

  @Test("A screen is online if its status bar says so")
  func online() {
    #expect(SwarmTerminals.isOnline(["▌ hot 1", " terminal0   15 here  94 ms  ● online", ""]))
    #expect(!SwarmTerminals.isOnline(["● online", " terminal0   ○ offline, trying now", ""]))
    #expect(!SwarmTerminals.isOnline([" terminal0   ◐ no answer for 4 s"]))
    #expect(!SwarmTerminals.isOnline([]))
  }
}
