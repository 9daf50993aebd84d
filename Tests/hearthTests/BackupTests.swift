import Foundation
import TestSupport
import Testing

extension EndToEnd {
  @Suite("Backup, export and import", .timeLimit(.minutes(5)))
  struct BackupTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Writes a file with many posts of a few hundred bytes.
    private func writePosts(_ count: Int, to path: String, title: String = "t") throws {
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try #require(FileHandle(forWritingAtPath: path))
      let body = String(repeating: "word ", count: 60)
      var text = "{\"posts\":{\n"
      for number in 0..<count {
        let comma = number == 0 ? "" : ",\n"
        text +=
          "\(comma)\"-N\(10_000_000 + number)\":{\"title\":\"\(title)\",\"body\":\"\(body)\",\"n\":\(number)}"
        if text.utf8.count > 1_000_000 {
          file.write(Data(text.utf8))
          text = ""
        }
      }
      file.write(Data((text + "\n}}\n").utf8))
      try file.close()
    }

    private func names(in directory: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    /// The peak memory of a process in megabytes, once it has ended.
    private func peak(of process: Spawned) -> Int {
      var peak = 0
      while let text = try? String(
        contentsOfFile: "/proc/\(process.processIdentifier)/status",
        encoding: .utf8
      ),
        !text.contains("State:\tZ")
      {
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        peak = max(
          peak,
          (line.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) / 1_024
        )
        usleep(5_000)
      }
      return peak
    }

    @Test("A backup taken under load is consistent and can be restored")
    func online() throws {
      let (socket, data) = (sandbox.directory + "/s", sandbox.directory + "/db")
      let server = try sandbox.serve("--socket", socket, "--data-dir", data).process
      let writer = CrashWriter("w0", seed: 1)
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread {
        writer.write(to: socket)
        group.leave()
      }
      let copies = (0..<3).map { sandbox.directory + "/copy\($0).sqlite" }
      for copy in copies + [copies[0]] {
        let outcome = try sandbox.succeed("backup", copy, "--data-dir", data, "--json")
        #expect(try object(outcome.output)["file"] as? String == copy)
        #expect(try sandbox.hearth("fsck", copy).status == 0)
      }
      kill(server.processIdentifier, SIGKILL)
      server.wait()
      group.wait()
      for copy in copies {
        let restored = copy + ".d"
        mkdir(restored, 0o700)
        try FileManager.default.copyItem(atPath: copy, toPath: restored + "/database.sqlite")
        let json = try object(sandbox.hearth("get", "/", "--data-dir", restored).output)
        let left = (json["left"] as? [String: Any])?["w0"] as? [String: Int]
        #expect(left == (json["right"] as? [String: Any])?["w0"] as? [String: Int])
        #expect(json["counters"] != nil)
        try sandbox.hearth("stop", "--data-dir", restored)
      }
      #expect(try !names(in: sandbox.directory).contains { $0.hasSuffix(".partial") })
    }

    @Test("A killed import changes nothing, and a complete one imports everything")
    func killedImport() throws {
      try sandbox.hearth("set", "/posts/old", #"{"title":"old"}"#)
      try sandbox.hearth("stop")
      let before = try sandbox.hearth("export", "--json").output
      let file = sandbox.directory + "/posts.json"
      try writePosts(20_000, to: file)
      // The number of bytes written shows that the import is under way, whatever the speed of the
      // machine.
      for bytes in [1, 300_000, 1_500_000] {
        let process = try sandbox.start("import", file)
        try waitUntil("the import has written \(bytes) bytes") { process.writtenBytes >= bytes }
        kill(process.processIdentifier, SIGKILL)
        try #require(process.wait() == 128 + SIGKILL, "the import was over before it was killed")
        #expect(try sandbox.hearth("export", "--json").output == before)
        #expect(try sandbox.hearth("fsck", sandbox.directory + "/data/hearth").status == 0)
      }
      #expect(try sandbox.hearth("import", file).status == 0)
      let posts = try object(sandbox.hearth("export").output)["posts"] as? [String: Any]
      #expect(posts?.count == 20_001)
      #expect(try sandbox.hearth("get", "/posts/-N10019999/n").output == "19999\n")
      #expect(try sandbox.hearth("get", "/posts/old/title").output == "\"old\"\n")
    }

    @Test(
      "An export that a signal ends leaves no part of a file, and ends by the signal",
      arguments: [("", SIGINT), ("", SIGTERM), ("", SIGHUP), ("trap '' INT HUP; ", SIGTERM)]
    )
    func stoppedExport(ignored: String, signal: Int32) throws {
      let (descriptor, port) = try #require(DoctorTests.listeningPort())
      defer { close(descriptor) }
      let file = sandbox.directory + "/out.json"
      let process = try sandbox.start(
        [
          "-c", "\(ignored)exec \"$@\"", "bash", Sandbox.program, "export", file,
          "--database", "http://127.0.0.1:\(port)?ns=x",
        ],
        of: "/bin/bash"
      )
      // By now the file has been created; there will be no answer.
      let connection = accept(descriptor, nil, nil)
      defer { close(connection) }
      #expect(access(file + ".partial", F_OK) == 0)
      if !ignored.isEmpty {
        for number in [SIGINT, SIGHUP] { kill(process.processIdentifier, number) }
      }
      kill(process.processIdentifier, signal)
      process.wait()
      #expect(process.signal == signal)
      let left = try FileManager.default.contentsOfDirectory(atPath: sandbox.directory)
      #expect(left.filter { $0.hasPrefix("out.json") } == [])
    }

    @Test("A long import runs through the server, which keeps serving other clients")
    func shared() throws {
      try sandbox.serve()
      try sandbox.hearth("set", "/posts/old", #"{"title":"old"}"#)
      let file = sandbox.directory + "/posts.json"
      try writePosts(4_000, to: file)
      let importing = try sandbox.start("import", file)
      var others = 0
      while !importing.hasEnded {
        #expect(try sandbox.hearth("set", "/other", "\(others)").status == 0)
        others += 1
      }
      #expect(importing.wait() == 0)
      #expect(others > 1)
      #expect(try sandbox.hearth("get", "/posts/-N10003999/n").output == "3999\n")
      #expect(try sandbox.hearth("get", "/posts/old/title").output == "\"old\"\n")
      #expect(try sandbox.hearth("import", "-", "--replace", input: #"{"a":1}"#).status == 0)
      #expect(try sandbox.hearth("get", "/").output == "{\"a\":1}\n")
      try writePosts(2_000, to: file)
      #expect(try sandbox.hearth("import", file, "--replace").status == 0)
      let root = try object(sandbox.hearth("export").output)
      #expect((root["posts"] as? [String: Any])?.count == 2_000)
      #expect(root.count == 1)
    }

    @Test("A refused import says whether an earlier part was imported")
    func refusedPart() throws {
      let rules = #"{"rules":{".read":true,"posts":{".write":true}}}"#
      let (_, url) = try sandbox.serveBlog(rules: sandbox.write(rules, to: "rules.json"))
      func importing(_ text: String) throws -> (outcome: Sandbox.Outcome, posts: Int) {
        let outcome = try sandbox.hearth("import", "-", "--database", url, input: text)
        let posts = try sandbox.hearth("get", "/posts", "--database", url).output
        return (outcome, posts.count)
      }
      // Each is more than one step of an import: the first is awaited, and others are under way
      // while the next one is read.
      let long = String(repeating: "x", count: 150_000)
      let many = (0..<8).map { "\"k\($0)\":\"\(long)\"" }.joined(separator: ",")
      let first = try importing("{\"locked\":{\(many)},\"posts\":{\(many)}}")
      #expect(first.outcome.status != 0)
      #expect(first.outcome.errors.contains("ermission denied"), "\(first.outcome.errors)")
      #expect(!first.outcome.errors.contains("a part of"), "\(first.outcome.errors)")
      #expect(first.posts < 100)
      for text in ["\"locked\":{\"a\":1}", "\"locked\":{\(many)}"] {
        let later = try importing("{\"posts\":{\(many)},\(text)}")
        #expect(later.outcome.status != 0)
        #expect(later.outcome.errors.contains("only a part of the file has been imported"))
        #expect(later.posts > long.count)
      }
    }

    @Test("Import and export use constant memory")
    func memory() throws {
      let file = sandbox.directory + "/posts.json"
      var peaks: [[Int]] = []
      for count in [8_000, 40_000] {
        try writePosts(count, to: file)
        let importing = try sandbox.start("import", file, "--replace")
        let importPeak = peak(of: importing)
        #expect(importing.wait() == 0)
        let exporting = try sandbox.start("export", sandbox.directory + "/out.json")
        let exportPeak = peak(of: exporting)
        #expect(exporting.wait() == 0)
        peaks.append([importPeak, exportPeak])
      }
      for (short, long) in zip(peaks[0], peaks[1]) {
        #expect(long < short + 16, "\(peaks)")
        #expect(long < 80, "\(peaks)")
      }
    }
  }
}
