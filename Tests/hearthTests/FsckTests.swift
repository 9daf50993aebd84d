import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// What "hearth fsck" reports and repairs in a blog that other programs have damaged.
  @Suite("fsck", .timeLimit(.minutes(5)))
  struct FsckTests {
    /// A blog with one post, written and then damaged with the program.
    private func damagedPlace() throws -> (sandbox: Sandbox, post: String) {
      let sandbox = try Sandbox()
      let post = try sandbox.post("T", by: "ann")
      try sandbox.hearth("star", post, "--user", "bob")
      try sandbox.hearth("set", "/posts/\(post)/starCount", "5")
      try sandbox.hearth("set", "/user-posts/ann/\(post)/title", "\"other\"")
      try sandbox.hearth("set", "/post-comments/-gone/c", "{\"text\": \"\\u001b[31mlost\"}")
      return (sandbox, post)
    }

    @Test("Without --repair, fsck lists the fixes and changes nothing")
    func dryRun() throws {
      let (sandbox, post) = try damagedPlace()
      let before = try sandbox.hearth("export").output
      let check = try sandbox.hearth("fsck")
      #expect(check.status == 1)
      #expect(
        check.output.contains(
          "/posts/\(post): starCount is 5, but there is 1 star (to do: count the stars)\n"
        )
      )
      #expect(
        check.output.contains("differs from /posts/\(post)")
          && check.output.contains("in starCount, title")
      )
      #expect(
        check.output.contains(
          "/post-comments/-gone: has comments on a missing post (to do: remove it)\n"
        )
      )
      #expect(check.lines.last?.hasSuffix(": 3 faults") == true)
      #expect(try sandbox.hearth("export").output == before)
    }

    @Test("With --repair, fsck fixes all faults, with and without a server")
    func repair() throws {
      for isServed in [true, false] {
        let (sandbox, post) = try damagedPlace()
        if !isServed { try sandbox.hearth("stop") }
        let repair = try sandbox.succeed("fsck", "--repair")
        #expect(repair.output.contains("(repaired: starCount is 1)"))
        #expect(repair.output.contains("(repaired: it equals /posts/\(post))"))
        // The report names what was removed, but cannot steer the terminal.
        #expect(repair.output.contains("lost"))
        #expect(!repair.output.contains("\u{1b}"))
        #expect(repair.lines.last == "1 post, 0 comments, 1 star: no fault, 3 repaired")
        for arguments in [["fsck"], ["fsck", "--repair"]] {
          let again = try sandbox.run(arguments)
          #expect(again.status == 0)
          #expect(again.lines.last == "1 post, 0 comments, 1 star: no fault")
        }
        #expect(try sandbox.hearth("get", "/user-posts/ann/\(post)/title").output == "\"T\"\n")
      }
    }

    @Test("fsck leaves faults that need manual repair and reports them in its exit status")
    func person() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/posts/-p", "{\"title\": \"whose\", \"starCount\": 3}")
      let repair = try sandbox.hearth("fsck", "--repair", "--json")
      #expect(repair.status == 1)
      let objects = try repair.lines.map { try object($0) }
      #expect(
        objects.contains {
          $0["path"] as? String == "/posts/-p" && $0["outcome"] as? String == "repaired"
        }
      )
      #expect(
        objects.contains {
          $0["outcome"] as? String == "left"
            && ($0["remedy"] as? String)?.contains("person") == true
        }
      )
      #expect(objects.last?["faults"] as? Int == 1)
      #expect(objects.last?["repaired"] as? Int == 1)
    }

    @Test(
      "A database with missing data is not opened until the loss is accepted",
      arguments: ["a bit of the log", "the log", "the database"]
    )
    func loss(of what: String) throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/n", "0")
      let facts = try object(sandbox.hearth("info", "--json").output)
      let socket = try #require(facts["socket"] as? String)
      let client = try #require(WireClient(socket: socket))
      for number in 1...20 {
        let body = #"{"p":"/n","d":\#(number)}"#
        #expect(client.send(#"{"t":"d","d":{"r":\#(number),"a":"p","b":\#(body)}}"#))
        #expect(client.receive()?.contains(#""s":"ok""#) == true)
      }
      let server = try #require(try sandbox.serverProcess())
      kill(server, SIGKILL)
      // Until somebody waits for it, a process that has ended is still there, with an empty command line.
      try waitUntil("the server is gone") {
        FileManager.default.contents(atPath: "/proc/\(server)/cmdline")?.isEmpty ?? true
      }
      let file = sandbox.directory + "/data/hearth/database.sqlite"
      switch what {
      case "the database": unlink(file)
      case "the log": unlink(file + "-wal")
      default:
        var log = try Data(contentsOf: URL(fileURLWithPath: file + "-wal"))
        log[log.count / 2] ^= 1
        try log.write(to: URL(fileURLWithPath: file + "-wal"))
      }
      for arguments in [["get", "/n"], ["fsck"], ["export"], ["backup", "copy.sqlite"]] {
        let outcome = try sandbox.run(arguments)
        #expect(outcome.status != 0, "\(arguments)")
        let text = outcome.output + outcome.errors
        #expect(text.contains("acknowledged"), "\(arguments): \(text)")
      }
      let fault = try sandbox.hearth("get", "/n").errors
      #expect(fault.contains("fsck --accept-loss") && fault.contains("backup"), "\(fault)")
      #expect(try sandbox.serverProcess() == nil)
      let accepted = try sandbox.succeed("fsck", "--accept-loss")
      #expect(accepted.output.contains("/data/hearth/damaged-1"))
      #expect(access(sandbox.directory + "/data/hearth/damaged-1/database.sqlite-mark", F_OK) == 0)
      let left = try sandbox.succeed("get", "/n")
      #expect(left.output != "20\n")
      try sandbox.hearth("set", "/n", "21")
      try sandbox.hearth("stop")
      #expect(try sandbox.hearth("fsck").status == 0)
      #expect(try sandbox.hearth("get", "/n").output == "21\n")
      try sandbox.hearth("stop")
      let again = try sandbox.succeed("fsck", "--accept-loss")
      #expect(again.output.contains("nothing is missing"))
      #expect(try sandbox.hearth("fsck", "--accept-loss", "--ns", "none").status == 3)
    }

    @Test("An empty backup counts as damaged", arguments: ["", "x"])
    func emptyBackup(text: String) throws {
      let sandbox = try Sandbox()
      let missing = sandbox.directory + "/missing"
      #expect(try sandbox.hearth("backup", missing).status == 3)
      mkdir(sandbox.directory + "/copy", 0o700)
      let file = try sandbox.write(text, to: "copy/database.sqlite")
      for path in [file, sandbox.directory + "/copy"] {
        for command in ["fsck", "restore"] {
          try sandbox.refuse(command, path, says: "\(file): it is empty")
        }
      }
      for command in ["fsck", "restore"] {
        #expect(try sandbox.hearth(command, missing).status == 3, "\(command)")
      }
    }

    @Test("fsck repairs only the blog")
    func refused() throws {
      let sandbox = try Sandbox()
      #expect(try sandbox.hearth("fsck", "--repair", sandbox.directory).status == 2)
      #expect(try sandbox.hearth("fsck", "--repair", "--ns", "other").status == 2)
    }
  }
}
