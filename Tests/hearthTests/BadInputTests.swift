import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Every mistake gets a clear message on stderr, nothing on stdout, and the right status.
  @Suite("Bad input")
  struct BadInputTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func expect(
      _ outcome: Sandbox.Outcome,
      status: Int32,
      says text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(outcome.status == status, sourceLocation: sourceLocation)
      #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
      #expect(outcome.errors.contains(text), "\(outcome.errors)", sourceLocation: sourceLocation)
    }

    /// Expects that a command is refused.
    private func refuse(
      _ words: String...,
      input: String? = nil,
      status: Int32 = 2,
      says text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let outcome = try sandbox.run(words, input: input)
      expect(outcome, status: status, says: text, sourceLocation: sourceLocation)
    }

    @Test("A file or socket of another program is not mistaken for a server")
    func foreignSocket() throws {
      let file = try sandbox.write("x", to: "plain")
      try refuse("list", "--socket", file, says: "is not a socket")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "x")

      let path = sandbox.directory + "/foreign.sock"
      let listener = try ForeignListener(path)
      defer { listener.close() }
      let outcome = try sandbox.hearth("list", "--socket", path, "--timeout", "5")
      expect(outcome, status: 5, says: "not a database server")
      // This would end the process that runs the tests.
      try refuse("stop", "--socket", path, says: "\(path) is not the socket of a server")
      try refuse("export", path, status: 1, says: "\(path) cannot be written: it is a socket")
      try refuse("import", path, says: "\(path) cannot be read: it is a socket")
    }

    @Test("A missing or unsuitable terminal is rejected with advice")
    func noTerminal() throws {
      try refuse(says: "hearth list recent")
      let pane = try sandbox.open("TERM=dumb \(Sandbox.program); echo \"status $?\"; exec cat")
      try pane.waitFor("status 2")
      #expect(try pane.screen().contains("dumb"))
      let piped = try sandbox.open("\(Sandbox.program) | cat; exec cat")
      try piped.waitFor("standard output is not a terminal")
      #expect(try sandbox.serverProcess() == nil)
    }
  }
}

/// Listens on a Unix socket without being a database server.
private final class ForeignListener: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let listener = descriptor
    try #require(withUnixAddress(path) { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, 8) == 0)
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        _ = "220 mail.example ready\r\n".withCString {
          send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL))
        }
        Foundation.close(connection)
      }
    }
  }

  func close() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    Foundation.close(descriptor)
  }
}
