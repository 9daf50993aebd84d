import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// What a terminal could not send is sent by a later one, to the database that it was written to.
  @Suite("Unsent writes")
  struct UnsentWritesTests {
    private static func files(in sandbox: Sandbox) throws -> Set<String> {
      let all = try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory + "/state")
      return Set(all.filter { $0.contains("/offline/") && $0.hasSuffix(".sqlite") })
    }

    private static func post(in session: TerminalSession) throws {
      session.type("post\nUnsent\nText\n.\n")
      try waitForPost(in: session)
    }

    /// Lets alice post at a server on that socket, and kills both before it is sent.
    private static func leaveUnsent(at socket: String, in sandbox: Sandbox) throws {
      let arguments = ["--plain", "--user", "alice", "--socket", socket]
      let session = try TerminalSession(arguments, in: sandbox)
      try session.wait(for: "Type help")
      let server = try #require(try sandbox.serverProcess())
      kill(server, SIGSTOP)
      try post(in: session)
      session.send(SIGKILL)
      _ = try session.waitForEnd()
      kill(server, SIGKILL)
    }

    private static func waitForPost(in session: TerminalSession) throws {
      try waitUntil("the post is in the list") {
        session.type("list\n")
        session.read(for: 200)
        return session.terminal.lines.contains { $0.contains("1. Unsent") }
      }
    }

    @Test("Writes to one database stay while another one is used")
    func otherDatabase() throws {
      let sandbox = try Sandbox()
      let far = ["--plain", "--user", "alice", "--database", "http://127.0.0.1:9/?ns=far"]
      let sessions = try (0..<2).map { _ in
        let session = try TerminalSession(far, in: sandbox)
        try session.wait(for: "Offline")
        try Self.post(in: session)
        return session
      }
      for session in sessions {
        session.send(SIGKILL)
        _ = try session.waitForEnd()
      }
      let unsent = try Self.files(in: sandbox)
      #expect(unsent.count == 2)
      // It takes the place of the first, and looks for what the second has left.
      let near = try TerminalSession(["--plain", "--user", "alice"], in: sandbox)
      try near.wait(for: "Type help")
      for title in ["One", "Two", "Three", "Four"] {
        near.type("post\n\(title)\nText\n.\n")
        try near.wait(for: "Done: the post \(title).")
      }
      near.type("quit\n")
      _ = try near.waitForEnd()
      #expect(try unsent.isSubset(of: Self.files(in: sandbox)))
    }

    @Test("Writes are sent where the socket has another name than before")
    func renamedSocket() throws {
      let sandbox = try Sandbox()
      let run = sandbox.directory + "/data/hearth/run"
      try FileManager.default.createDirectory(
        atPath: run,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
      // As earlier versions named it; they named the file of unsent writes after it.
      try Self.leaveUnsent(at: run + "/hearth.sock", in: sandbox)
      let before = try Self.files(in: sandbox)
      #expect(!before.isEmpty)
      let next = try TerminalSession(["--plain", "--user", "alice"], in: sandbox)
      try next.wait(for: "Type help")
      try Self.waitForPost(in: next)
      try waitUntil("the file that is not needed any more is gone") {
        try before.isDisjoint(with: Self.files(in: sandbox))
      }
    }

    @Test("Writes to a socket of one's own are sent where its server is found")
    func ownSocket() throws {
      let sandbox = try Sandbox()
      let socket = sandbox.directory + "/own.sock"
      try Self.leaveUnsent(at: socket, in: sandbox)
      let bob = try TerminalSession(["--plain", "--user", "bob", "--socket", socket], in: sandbox)
      try bob.wait(for: "Type help")
      let next = try TerminalSession(["--plain", "--user", "alice"], in: sandbox)
      try next.wait(for: "Type help")
      try Self.waitForPost(in: next)
    }
  }
}
