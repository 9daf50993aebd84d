import Foundation
import Testing

extension EndToEnd {
  /// How `hearth serve` ends, and what does not make it end.
  @Suite("Server shutdown and limits", .timeLimit(.minutes(5)))
  struct StoppingTests {
    @Test(
      "A signal stops the server, with acknowledged data stored, even if a client is silent",
      arguments: [
        ([SIGTERM], 0), ([SIGINT], 0),
        // Both are pending before the process handles one, however busy the machine is.
        ([SIGSTOP, SIGTERM, SIGINT, SIGCONT], 143),
      ] as [([Int32], Int32)]
    )
    func signals(signals: [Int32], status: Int32) throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serve()
      let client = try #require(WireClient(socket: server.socket))
      #expect(client.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":1}}}"#))
      #expect(client.receive() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
      for signal in signals { kill(server.process.processIdentifier, signal) }
      #expect(server.process.wait() == status)
      #expect(try sandbox.hearth("get", "/x").output == "1\n")
      #expect(try sandbox.hearth("serve", "--help").output.contains("status 143"))
    }

    @Test("Connections beyond the file limit are refused, and the server keeps running")
    func fileLimit() throws {
      let sandbox = try Sandbox()
      // 64 connections that are only refused and 128 files are reserved.
      let server = try ServerProcess(sandbox, ["--port", "0"], fileLimit: 222)
      #expect(try server.text().contains("only 30 connections (RLIMIT_NOFILE)"))
      // The private socket has 16 of those that are refused elsewhere.
      var clients = (0..<46).compactMap { _ in WireClient(socket: server.socket) }
      #expect(clients.count == 46)
      #expect(WireClient(socket: server.socket) == nil)
      let refusal = try server.request("GET", "/x.json")
      #expect(refusal.status == 503)
      #expect(refusal.body == #"{"error":"the server has too many connections"}"#)
      // Clients that only connect use files as well, and are disconnected somewhat beyond the
      // limit.
      let idle = (0..<200).compactMap { _ in WireClient.connect(to: server.socket) }
      #expect(clients[0].send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":1}}}"#))
      #expect(clients[0].receive() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
      for descriptor in idle { close(descriptor) }
      clients.removeLast()
      try waitUntil("there is room again", within: 60) { WireClient(socket: server.socket) != nil }
      #expect(clients[0].send(#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/x","q":{}}}}"#))
      #expect(clients[0].receive() == #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":1}}}"#)
    }

    @Test("The server logs how long a large database takes to load")
    func opening() throws {
      let sandbox = try Sandbox()
      let values = (0..<100_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
      let file = try sandbox.write("{\"many\":{\(values)}}", to: "large.json")
      let small = try sandbox.serve()
      let quick = try #require(small.ready["startSeconds"] as? Double)
      #expect(quick > 0)
      #expect(try !small.text().contains("reading the database"))
      small.process.terminate()
      #expect(try sandbox.hearth("import", file).status == 0)
      let large = try sandbox.serve()
      #expect(try #require(large.ready["startSeconds"] as? Double) > quick)
      let log = try large.text()
      #expect(log.contains("reading the database takes about 0.1 seconds"), "\(log)")
      #expect(log.contains("the database is read") && log.contains("time"), "\(log)")
    }
  }
}
