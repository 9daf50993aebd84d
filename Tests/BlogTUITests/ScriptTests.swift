import Testing

@testable import BlogTUI

@Suite("Scripts")
struct ScriptTests {
  @Test("Every kind of step is parsed")
  func steps() throws {
    let script = try Script(
      """
      # a comment
      size 100x30
      key Enter ^X F12
      type hi \\\\ there
      paste a\\nb
      pause 500
      wait-for some text
      expect x
      refuse y
      :theme light
      :wait-idle
      """
    )
    #expect(script.lines.map(\.number) == Array(2...11))
    #expect(script.lines[0].step == .size(Size(width: 100, height: 30)))
    #expect(script.lines[1].step == .keys([.enter, .control("x"), .function(12)]))
    #expect(script.lines[3].step == .keys([.paste("a\nb")]))
    #expect(script.lines[8].step == .command("theme light"))
    #expect(script.lines[9].step == .waitIdle)
  }

  @Test("A byte order mark and the line ends of Windows are skipped")
  func otherSystems() throws {
    let script = try Script("\u{FEFF}type a\r\n\r\nexpect b\r\n")
    #expect(script.lines.map(\.step) == [.keys([.character("a")]), .expect("b")])
    #expect(script.lines.map(\.number) == [1, 3])
  }

  @Test(
    "A step without its text says so",
    arguments: ["type", "wait-for", "expect", "refuse "]
  )
  func withoutText(line: String) {
    let failure = #expect(throws: Script.Failure.self) { try Script(line) }
    #expect(failure?.reason.hasSuffix("needs a text") == true)
  }

  @Test(
    "An invalid step is rejected",
    arguments: [
      "key", "key Entr", "size 0x5", "pause -1", "dance", "wait-for",
    ]
  )
  func mistakes(line: String) {
    #expect(throws: Script.Failure.self) { try Script("# x\n" + line) }
  }
}
