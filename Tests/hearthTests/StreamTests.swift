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

    @Test("Commands from a pipe that cannot all be done end with status 1")
    func refusedCommands() throws {
      try sandbox.post("T")
      try sandbox.succeed("--plain", input: "open 1\ncomment tea\nquit\n")
      for commands in ["star 7\nlist\nquit\n", "name \n\nfortnight", "post\nTitle\nText\n"] {
        #expect(try sandbox.hearth("--plain", input: commands).status == 1, "\(commands)")
      }
    }

    @Test("Commands that cannot be read are no success")
    func unreadableCommands() throws {
      let outcome = try shell("$HEARTH --plain < .")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("stdin cannot be read: Is a directory"))
    }

    @Test("A watch ends when nobody reads what it prints, although nothing changes")
    func unreadWatch() throws {
      try sandbox.hearth("set", "/notes/a", "1")
      let watch = "timeout 60 $HEARTH watch /notes; echo $? >&2"
      let outcome = try shell("{ \(watch); } | head -1")
      #expect(outcome.output == "child_added /notes/a 1\n")
      #expect(outcome.errors == "141\n")
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

    @Test(
      "If the ID cannot be printed, the post is written and the error names the ID",
      arguments: [">/dev/full", ">&-"]
    )
    func unprinted(redirection: String) throws {
      let command = "$HEARTH post --title T --body B \(redirection)"
      let outcome = try shell("cd \(sandbox.directory); \(command)")
      let posts = try sandbox.hearth("list", "--json").lines
      #expect(posts.count == 1)
      let id = try #require(try object(posts[0])["id"] as? String)
      #expect(outcome.status == 7)
      #expect(outcome.errors.contains("the post is written, but its id cannot be printed"))
      #expect(outcome.errors.contains(id))
    }

    @Test(
      "If the result of a change cannot be printed, the status says that it was made",
      arguments: [">/dev/full", ">&-"]
    )
    func unprintedChange(redirection: String) throws {
      let command = "$HEARTH users add a@b.cd --password-stdin \(redirection)"
      let outcome = try shell("echo a long password | \(command)")
      #expect(outcome.status == 7)
      #expect(outcome.errors.contains("it is done") && outcome.errors.contains("a@b.cd: added as"))
      #expect(try sandbox.hearth("users").output.contains("a@b.cd"))
    }

    @Test(
      "Work in several steps goes on if one of them cannot be printed",
      arguments: [">/dev/full", ">&-"]
    )
    func unprintedSteps(redirection: String) throws {
      let post = #"{"uid":"a","author":"a","title":"t","body":"b","starCount":3}"#
      try sandbox.hearth("set", "/posts/p", post)
      try sandbox.hearth("databases", "create", "other")
      let repair = try shell("$HEARTH fsck --repair --ns hearth \(redirection)")
      #expect(repair.status == 7, "\(repair.errors)")
      #expect(repair.errors.contains("it is done") && repair.errors.contains("2 repaired"))
      #expect(try sandbox.hearth("fsck", "--ns", "hearth").status == 0)
      try sandbox.hearth("stop")
      let (source, target) = (sandbox.directory + "/data/hearth", sandbox.directory + "/moved")
      let move = try shell("$HEARTH migrate \(source) \(target) \(redirection)")
      #expect(move.status == 7, "\(move.errors)")
      for name in ["hearth", "other"] {
        #expect(move.errors.contains("\(name): everything"), "\(move.errors)")
      }
    }

    @Test(
      "A command that succeeds exits with 0 even if its messages cannot be written",
      arguments: [">&-", ">/dev/full"]
    )
    func withoutErrors(redirection: String) throws {
      try sandbox.post("T")
      let commands =
        "cd \(sandbox.directory); $HEARTH export x.json 2\(redirection)"
        + " && $HEARTH import x.json 2\(redirection)"
      #expect(try shell(commands).status == 0)
      #expect(try sandbox.hearth("fsck").status == 0)
    }

    @Test("A server in the background keeps no file of the shell that started it")
    func inheritedDescriptors() throws {
      let file = sandbox.directory + "/kept"
      #expect(try shell("$HEARTH list 9>\(file)").status == 0)
      let server = try #require(try sandbox.serverProcess())
      let folder = "/proc/\(server)/fd"
      for descriptor in try FileManager.default.contentsOfDirectory(atPath: folder) {
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "\(folder)/\(descriptor)"
        )
        #expect(target != file, "descriptor \(descriptor)")
      }
    }

    @Test("Closed standard descriptors are not reused for other files")
    func closedDescriptors() throws {
      let file = sandbox.directory + "/x.json"
      try sandbox.hearth("set", "/x", "1")
      let outcome = try shell("$HEARTH export \(file) <&- >&- 2>&-")
      #expect(outcome.status == 0)
      #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("{"))
      // The message about the missing output must not land in the file either.
      #expect(try shell("$HEARTH get /x >&- 2>&-").status == 1)
    }
  }
}
