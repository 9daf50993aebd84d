import Foundation
import Testing

extension EndToEnd {
  /// How users find something in a terminal, and how they get back.
  @Suite("Palette, settings and search in terminals", .needsTmux)
  struct WaysInTerminalsTests {
    private static let program = Sandbox.program

    @Test("A setting is explained; arrows try a value, Esc reverts it and Enter saves it")
    func settings() throws {
      let sandbox = try Sandbox()
      let file = sandbox.directory + "/.config/hearth/config.toml"
      let ann = try sandbox.open(as: "ann")
      try ann.waitFor("No posts yet")
      func open() throws {
        try ann.press("F2", until: "Settings")
        try ann.type("density", until: "‹ compact ›")
      }
      try open()
      try ann.waitFor("the whole explanation") {
        $0.contains("How many lines a post has in a list.") && $0.contains("normal, full.")
      }
      try ann.press("Right", until: "Now: normal (chosen here)")
      try ann.press("Escape", "Escape")
      try ann.waitFor("the list") { $0.contains("No posts yet") && !$0.contains("Settings") }
      try open()
      try ann.press("Right", "Right", until: "‹ full ›")
      try ann.press("Enter", until: "density is now full")
      try waitUntil("the choice is in the configuration file") {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        return text?.contains("density = \"full\"") == true
      }
      #expect(try String(contentsOfFile: file, encoding: .utf8).contains("normal") == false)
    }

    @Test("Enter searches unloaded posts, Esc stops it, and the next search knows the total")
    func search() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serveApart()
      let (database, process) = (server.localURL, server.process.processIdentifier)
      // The list shows the newest hundred, and the needle is the oldest of all.
      let straws = (1_001..<1_400).map { "Straw \($0)" }
      try sandbox.importPosts(["Needle"] + straws, "--database", database)
      let ann = try sandbox.open(as: "ann", "--database '\(database)'")
      try ann.waitFor("Straw 1399", within: 30)
      try ann.waitUntilAtHome(as: "ann", in: database)
      func search(_ text: String) throws {
        try ann.press("/")
        try ann.type(text, until: "None of the loaded posts contains")
        try ann.press("Enter")
      }
      // A server that does not respond stalls the search.
      kill(process, SIGSTOP)
      try search("needle")
      try ann.waitFor("searched 0")
      try ann.waitFor("Esc stops")
      try ann.press("Escape", until: "stopped. Esc shows all.")
      kill(process, SIGCONT)
      try ann.press("Escape", until: "Straw 1399")
      try search("needle")
      try ann.waitFor("1 of 400. Esc shows all.", within: 60)
      try ann.waitFor("Needle")
      // The selected post is not loaded; the nearest loaded post takes its place.
      try ann.press("Escape", until: "▌ Straw 1300")
      kill(process, SIGSTOP)
      try search("nowhere")
      try ann.waitFor("searched 0 of 400")
      kill(process, SIGCONT)
      try ann.waitFor("All 400 were searched. Esc shows them.", within: 60)
    }
  }
}
