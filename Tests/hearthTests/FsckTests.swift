import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// What "hearth fsck" reports and repairs in a blog that other programs have damaged.
  @Suite("fsck of a damaged blog", .timeLimit(.minutes(5)))
  struct FsckTests {
    /// A blog with one post, written and then damaged with the program.
    private func damagedPlace() throws -> (place: Place, post: String) {
      let place = try Place()
      let post = try #require(
        try place.hearth("post", "--title", "T", "--body", "B", "--user", "ann").lines.first
      )
      try place.hearth("star", post, "--user", "bob")
      try place.hearth("set", "/posts/\(post)/starCount", "5")
      try place.hearth("set", "/user-posts/ann/\(post)/title", "\"other\"")
      try place.hearth("set", "/post-comments/-gone/c", "{\"text\": \"\\u001b[31mlost\"}")
      return (place, post)
    }

    @Test("Without --repair it says what is to be done and changes nothing")
    func dryRun() throws {
      let (place, post) = try damagedPlace()
      let before = try place.hearth("export").output
      let check = try place.hearth("fsck")
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
        check.output.contains("/post-comments/-gone: has comments on no post (to do: remove it)\n")
      )
      #expect(check.lines.last?.hasSuffix(": 3 faults") == true)
      #expect(try place.hearth("export").output == before)
    }

    @Test("With --repair it puts things right, with a server and without, and then finds nothing")
    func repair() throws {
      for isServed in [true, false] {
        let (place, post) = try damagedPlace()
        if !isServed { try place.hearth("stop") }
        let repair = try place.hearth("fsck", "--repair")
        #expect(repair.status == 0, "\(repair.output)\(repair.errors)")
        #expect(repair.output.contains("(repaired: starCount is 1)"))
        #expect(repair.output.contains("(repaired: it is what /posts/\(post) is)"))
        // The report names what was removed, but cannot steer the terminal.
        #expect(repair.output.contains("lost"))
        #expect(!repair.output.contains("\u{1b}"))
        #expect(repair.lines.last == "1 post, 0 comments, 1 star: no fault, 3 repaired")
        for arguments in [["fsck"], ["fsck", "--repair"]] {
          let again = try place.run(arguments, environment: place.environment)
          #expect(again.status == 0)
          #expect(again.lines.last == "1 post, 0 comments, 1 star: no fault")
        }
        #expect(try place.hearth("get", "/user-posts/ann/\(post)/title").output == "\"T\"\n")
      }
    }

    @Test("What needs a person is left, and is said in the status")
    func person() throws {
      let place = try Place()
      try place.hearth("set", "/posts/-p", "{\"title\": \"whose\", \"starCount\": 3}")
      let repair = try place.hearth("fsck", "--repair", "--json")
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
      "A database that lacks something is not opened, until that is accepted",
      arguments: ["a bit of the log", "the log", "the database"]
    )
    func loss(of what: String) throws {
      let place = try Place()
      for number in 1...20 { try place.hearth("set", "/n", "\(number)") }
      let server = try #require(try place.serverProcess())
      kill(server, SIGKILL)
      try waitUntil("the server is gone") { kill(server, 0) != 0 }
      let file = place.directory + "/data/hearth/database.sqlite"
      switch what {
      case "the database": unlink(file)
      case "the log": unlink(file + "-wal")
      default:
        var log = try Data(contentsOf: URL(fileURLWithPath: file + "-wal"))
        log[log.count / 2] ^= 1
        try log.write(to: URL(fileURLWithPath: file + "-wal"))
      }
      for arguments in [["get", "/n"], ["fsck"], ["export"], ["backup", "copy.sqlite"]] {
        let outcome = try place.run(arguments, environment: place.environment)
        #expect(outcome.status != 0, "\(arguments)")
        let text = outcome.output + outcome.errors
        #expect(text.contains("acknowledged"), "\(arguments): \(text)")
      }
      let fault = try place.hearth("get", "/n").errors
      #expect(fault.contains("fsck --accept-loss") && fault.contains("backup"), "\(fault)")
      #expect(try place.serverProcess() == nil)
      let accepted = try place.hearth("fsck", "--accept-loss")
      #expect(accepted.status == 0, "\(accepted.errors)")
      #expect(accepted.output.contains("/data/hearth/damaged-1"))
      #expect(access(place.directory + "/data/hearth/damaged-1/database.sqlite-mark", F_OK) == 0)
      let left = try place.hearth("get", "/n")
      #expect(left.status == 0, "\(left.errors)")
      #expect(left.output != "20\n")
      try place.hearth("set", "/n", "21")
      try place.hearth("stop")
      #expect(try place.hearth("fsck").status == 0)
      #expect(try place.hearth("get", "/n").output == "21\n")
      #expect(try place.hearth("fsck", "--accept-loss").status != 0)
    }

    @Test("Only the blog can be repaired")
    func refused() throws {
      let place = try Place()
      #expect(try place.hearth("fsck", "--repair", place.directory).status == 2)
      #expect(try place.hearth("fsck", "--repair", "--ns", "other").status == 2)
    }
  }
}
