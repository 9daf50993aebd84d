import Foundation
import Testing

extension EndToEnd {
  /// The configuration file, drafts, editors and line mode, on a real terminal.
  @Suite("Configuration and writing", .needsTmux)
  struct ConfigurationTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func write(_ text: String) throws {
      let folder = sandbox.directory + "/.config/hearth"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try sandbox.write(text, to: ".config/hearth/config.toml")
    }

    @Test("Times are shown in the user's time zone")
    func timeZone() throws {
      try sandbox.run([
        "set", "/posts/a", #"{"uid":"u","author":"u","title":"T","body":"B","starCount":0}"#,
      ])
      let variables = "TZ=XYZ-13:30 HEARTH_TIMES=date"
      let pane = try sandbox.open(as: "alice", variables: variables, columns: 120)
      try sandbox.post("Now")
      let written = Date()
      let times = [written.addingTimeInterval(-2), written].map { date in
        let local = Int(date.timeIntervalSince1970) + 13 * 3_600 + 30 * 60
        return String(format: "%02d:%02d", local / 3_600 % 24, local / 60 % 60)
      }
      try pane.waitFor("the local time") { screen in times.contains { screen.contains($0) } }
    }

    @Test("A changed file is reloaded at runtime, and an invalid one keeps the old values")
    func liveReload() throws {
      try write("ascii = false\n")
      let alice = try sandbox.open(as: "alice")
      try write("ascii = true\n[keys.list]\n\"x\" = \"compose\"\n")
      try alice.waitFor("config.toml:3")
      try alice.waitFor("+ online")
      try write("ascii = \"?\"\n[keys.list]\n\"x\" = \"write\"\n")
      try alice.waitFor("config.toml:1")
      try alice.press("x", until: "New post")
    }

    @Test("kill -9 in the middle of a word loses no saved text")
    func killed() throws {
      let alice = try sandbox.open(as: "alice")
      try alice.press("c")
      try alice.type("Half a")
      try alice.press("Tab")
      try alice.type("word and mo", until: "word and mo")
      try waitUntil("the draft is on disk") { try sandbox.keeps("word and mo") }
      kill(try alice.process(), SIGKILL)
      let again = try sandbox.open(as: "alice")
      try again.press("c", until: "Half a")
      try again.waitFor("word and mo")
    }

    @Test("The external editor gets the terminal and returns the text")
    func editor() throws {
      let script = try sandbox.write(
        "#!/bin/sh\n[ -t 1 ] || exit 1\nprintf 'From outside\\n\\nTwo\\nlines\\n' > \"$2\"\n",
        to: "my editor"
      )
      chmod(script, 0o700)
      let alice = try sandbox.open(as: "alice", variables: "VISUAL=\"'\(script)' --wait\"")
      try alice.press("c")
      try alice.type("Draft")
      try alice.press("C-e", until: "From outside")
      try alice.press("C-s", until: "From outside")
      let post = try object(try sandbox.hearth("list", "--json").lines[0])
      #expect(post["body"] as? String == "Two\nlines")
    }

    @Test("A failed editor changes nothing")
    func failingEditor() throws {
      let alice = try sandbox.open(as: "alice", variables: "VISUAL=false")
      try alice.press("c")
      try alice.type("Draft")
      try alice.press("C-e", until: "false ended with status 1: the text is unchanged.")
      try alice.waitFor("Draft")
    }

    @Test("Line mode prints a line for each event and accepts commands")
    func plain() throws {
      let alice = try sandbox.open("\(Sandbox.program) --plain --user alice")
      try alice.waitFor("0 posts. Type help")
      try sandbox.post("News", by: "bob")
      try alice.waitFor("New post by bob: News.")
      try alice.enter("star 1", until: "1 star for News.")
    }

    @Test("Two terminals of one user keep separate drafts")
    func twoTerminals() throws {
      let first = try sandbox.open(as: "alice")
      try first.press("c")
      try first.type("First of two")
      try waitUntil("the first draft is on disk") { try sandbox.keeps("First of two") }
      let second = try sandbox.open(as: "alice")
      try second.press("c", until: "New post")
      #expect(!(try second.screen()).contains("First of two"))
      try second.type("Second of two")
      try waitUntil("the second draft is on disk") { try sandbox.keeps("Second of two") }
      kill(try first.process(), SIGKILL)
      kill(try second.process(), SIGKILL)
      let third = try sandbox.open(as: "alice")
      try third.waitFor("2 drafts")
    }

    @Test("A link is passed to the browser as one argument, without shell expansion")
    func links() throws {
      let file = sandbox.directory + "/opened"
      let browser = try sandbox.write(
        "#!/bin/sh\nprintf '%s' \"$#:$1\" > '\(file)'\n",
        to: "browser"
      )
      chmod(browser, 0o700)
      let link = "http://example.org/;touch%20x$(id)&y"
      let alice = try sandbox.open(as: "alice", variables: "BROWSER=\(browser)")
      try sandbox.post("Link", "See \(link).", by: "bob")
      try alice.waitFor("Link")
      try alice.press("o", until: "example.org")
      try alice.press("Enter")
      try waitUntil("the browser was started") { FileManager.default.fileExists(atPath: file) }
      try waitUntil("the browser has written") {
        try String(contentsOfFile: file, encoding: .utf8) == "1:" + link
      }
    }
  }
}
