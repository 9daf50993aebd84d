import Foundation
import Testing

extension EndToEnd {
  /// What commands do when their streams are closed, full or somebody else's.
  @Suite("Standard streams")
  struct StreamTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Runs a shell command in which $HEARTH is the program.
    private func shell(_ command: String) throws -> Sandbox.Outcome {
      let environment = sandbox.environment.merging(["HEARTH": Sandbox.program]) { $1 }
      return try sandbox.run(["-c", command], of: "/bin/sh", environment: environment)
    }

    @Test("Commands from a pipe do not wait for ever for a server that is gone")
    func withoutServer() throws {
      let command = """
        cd \(sandbox.directory); mkfifo in; : > out
        $HEARTH --plain < in > out & app=$!
        exec 3> in
        until grep -q Online out && grep -q "Type help" out; do sleep 0.1; done
        info=$($HEARTH info --json)
        server=$(echo "$info" | sed 's/.*"process \\([0-9]*\\)".*/\\1/')
        socket=$(echo "$info" | sed 's/.*"socket":"\\([^"]*\\)".*/\\1/')
        kill -STOP $app
        kill -KILL $server && rm -f "$socket" && mkdir "$socket" || { kill -KILL $app; exit 1; }
        kill -CONT $app
        printf 'post\\nUnsent\\nText\\n.\\nlist\\n' >&3
        until grep -q "1. Unsent" out || [ $((n += 1)) -gt 60 ]; do echo people >&3; sleep 1; done
        exec 3>&-
        grep -q "1. Unsent" out || { kill -KILL $app; exit 1; }
        wait $app && cat out
        """
      let outcome = try shell(command)
      #expect(outcome.status == 0 && outcome.output.contains("\n1. Unsent, by "), "\(outcome)")
    }

    @Test("A watch ends when the other end of its socket is closed, although nothing changes")
    func unreadSocket() throws {
      try sandbox.hearth("set", "/notes/a", "1")
      var ends: [Int32] = [0, 0]
      // Another test may start a process meanwhile, which must not keep the end that is closed.
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
      process.arguments = ["60", Sandbox.program, "watch", "/notes"]
      process.environment = sandbox.environment
      process.standardOutput = FileHandle(fileDescriptor: ends[1])
      try process.run()
      close(ends[1])
      let expected = "child_added /notes/a 1\n"
      var read = Data()
      let reader = FileHandle(fileDescriptor: ends[0])
      while read.count < expected.utf8.count, let byte = try reader.read(upToCount: 1) {
        read += byte
      }
      #expect(String(decoding: read, as: UTF8.self) == expected)
      try reader.close()
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(process.terminationStatus == SIGPIPE)
    }

    @Test("Output waits for a pipe that another program has set not to block")
    func nonblocking() throws {
      let text = String(repeating: "a", count: 2_000_000)
      try sandbox.hearth("set", "/a", "-", input: "\"\(text)\"")
      let pipe = Pipe()
      let writing = pipe.fileHandleForWriting.fileDescriptor
      try #require(fcntl(writing, F_SETFL, O_WRONLY | O_NONBLOCK) == 0)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Sandbox.program)
      process.arguments = ["get", "/a"]
      process.environment = sandbox.environment
      process.standardOutput = pipe
      let end = dup(writing)
      try process.run()
      // Nobody reads before the pipe is full, so that a part of the text has to wait.
      try waitUntil("the pipe is full") {
        var descriptor = pollfd(fd: end, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 0) == 0
      }
      close(end)
      let output = try pipe.fileHandleForReading.readToEnd()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(output?.count == text.utf8.count + 3)
    }
  }
}
