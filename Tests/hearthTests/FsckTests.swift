import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// What "hearth fsck" says of a database that has lost data.
  @Suite("fsck", .timeLimit(.minutes(5)))
  struct FsckTests {
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
  }
}
