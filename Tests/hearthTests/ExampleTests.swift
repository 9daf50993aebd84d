import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The programs of `assets/examples`, each in a terminal, with one server for all.
  @Suite("Examples")
  struct ExampleTests {
    let sandbox: Sandbox
    let server: ServerProcess
    let url: String

    init() throws {
      sandbox = try Sandbox()
      server = try sandbox.serve("--emulator", "--port", "0")
      url = "http://127.0.0.1:\(server.port)?ns=examples"
    }

    /// Opens a program beside the one that is tested.
    private func open(_ program: String, _ arguments: String...) throws -> TerminalSession {
      try open(program, arguments)
    }

    private func open(_ program: String, _ arguments: [String]) throws -> TerminalSession {
      let folder = URL(filePath: Sandbox.program).deletingLastPathComponent()
      let path = folder.appending(path: program).path
      return try TerminalSession([url] + arguments, of: path, in: sandbox)
    }

    private func stored(_ path: String) throws -> String {
      try server.request("GET", "\(path).json?ns=examples").body
    }

    @Test("Chat users read each other's messages and disappear when their programs end")
    func chat() throws {
      let ann = try open("Chat", "Ann")
      try ann.wait(for: "Here are Ann.")
      let bob = try open("Chat", "Bob")
      try bob.wait(for: "Here are Ann, Bob.")
      bob.type("Tea?\n")
      try ann.wait(for: "Bob: Tea?")
      ann.type("Gladly\n")
      try bob.wait(for: "Ann: Gladly")
      // End of input.
      bob.type("\u{4}")
      #expect(try bob.waitForEnd() == 0)
      try waitUntil("Bob is gone") { try !stored("/chat/people").contains("Bob") }
      #expect(try stored("/chat/people").contains("Ann"))
    }

    // Differs: At the top level of a script
    @Test(
      "A script that awaits each write has stored everything at its end, and every error is caught",
      arguments: ["Swift5Script", "Swift6Script"]
    )
    func script(program: String) throws {
      let script = try open(program)
      #expect(try script.waitForEnd() == 0)
      let shown = script.terminal.lines.map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(shown.contains("at the top level: com.firebase 2"))
      #expect(shown.contains { $0.hasSuffix("errors, as expected") })
      // The connection has ended with the process, after which the server does what was scheduled.
      try waitUntil("what was scheduled is done") {
        try stored("/script/later") != #"{"removed":1}"#
      }
      let exported = try server.request("GET", "/script.json?ns=examples&format=export").body
      let data = try #require(
        try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: Any]
      )
      let set = try #require(data["set"] as? [String: Any])
      #expect(set["title"] as? String == "Hello")
      #expect(set["at"] is NSNumber)
      let rest = data.filter { $0.key != "set" } as NSDictionary
      let expected: NSDictionary = [
        "priority": [".value": 1, ".priority": 2], "set-priority": [".value": 1, ".priority": "p"],
        "update": ["a": 1, "b": 2], "coded": ["a": 1], "counted": 1,
        "later": ["set": 1, "priority": [".value": 1, ".priority": 2], "update": 1],
      ]
      #expect(rest == expected)
    }

    @Test("Guest book entries are counted and shown to other guests")
    func guestBook() throws {
      let ann = try open("GuestBook", "Ann", "Hello")
      try ann.wait(for: "signed 1 times")
      let bob = try open("GuestBook", "Bob", "Hi")
      try bob.wait(for: "Ann: Hello")
      try bob.wait(for: "signed 2 times")
      try ann.wait(for: "Bob: Hi")
      #expect(try stored("/guest-book/entries").matches(of: /"date":\d+/).count == 2)
    }

    @Test("Examples name what the server refuses, and do not call it kept")
    func refusals() throws {
      server.process.terminate()
      let rules = sandbox.directory + "/rules.json"
      try #"{"rules": {".read": true, ".write": false}}"#
        .write(toFile: rules, atomically: true, encoding: .utf8)
      try sandbox.serve("--emulator", "--port", "\(server.port)", "--rules", rules)
      let errands = try open("Errands", sandbox.directory + "/errands", "Buy tea")
      #expect(try errands.waitForEnd() == 0)
      let shown = errands.terminal.lines.joined(separator: " ")
      #expect(shown.contains("The server refused \"Buy tea\""))
      #expect(!shown.contains("kept"))
      for (program, arguments) in [("Chat", ["Ann"]), ("GuestBook", ["Ann", "Hello"])] {
        let refused = try open(program, arguments)
        #expect(try refused.waitForEnd() == 1)
        #expect(refused.terminal.lines.contains { $0.hasPrefix("Permission denied") })
      }
    }

    @Test("Errands written offline are sent exactly once by a later run")
    func errands() throws {
      server.process.terminate()
      let directory = sandbox.directory + "/errands"
      let away = try open("Errands", directory, "Buy tea", "Post the letter")
      try away.wait(for: "There is no connection")
      #expect(try away.waitForEnd() == 0)
      try sandbox.serve("--emulator", "--port", "\(server.port)")
      for _ in 1...2 {
        let later = try open("Errands", directory)
        #expect(try later.waitForEnd() == 0)
        let shown = later.terminal.lines.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(shown.filter { $0.hasPrefix("-") } == ["- Buy tea", "- Post the letter"])
      }
    }
  }
}
