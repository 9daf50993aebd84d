import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("The databases of an emulator", .timeLimit(.minutes(1)), .cleansUp)
struct EmulatorTests {
  private func emulator(databases: Int) async throws -> DatabaseServer {
    var options = DatabaseServer.Options.emulator(port: 0)
    options.limits.databases = databases
    return try await .start(options).endingWithTest()
  }

  @Test("accepts any number of database names, one per test if need be, and keeps their data")
  func manyNames() async throws {
    let server = try await emulator(databases: 4)
    let http = try await HTTPProbe(server.address)
    for number in 0..<60 {
      let name = "test-\(number)"
      let put =
        number % 3 == 0 ? nil : try await http.request("PUT", "/a.json?ns=\(name)", "\(number)")
      #expect(put?.status ?? 200 == 200, "\(name)")
      let client = try await server.connect(to: name)
      #expect(try await client.next().contains(#""t":"h""#), "\(name)")
      client.close()
    }
    for number in 0..<60 {
      let body = number % 3 == 0 ? "null" : "\(number)"
      #expect(try await http.request("GET", "/a.json?ns=test-\(number)").body == body)
    }
  }

  @Test("tells clients why it refuses them so that none retries silently")
  func told() async throws {
    let server = try await emulator(databases: 3)
    let http = try await HTTPProbe(server.address)
    let clients = [try await server.connect(to: "one"), try await server.connect(to: "two")]
    for client in clients { _ = try await client.next() }
    let answer = try await http.request("GET", "/a.json?ns=three")
    #expect(answer.status == 429)
    #expect(answer.body.contains("too many databases open"))
    let refused = try await server.connect(to: "three")
    let message = try await refused.next()
    #expect(message.hasPrefix(#"{"t":"c","d":{"t":"s","d":"the server has too many"#), "\(message)")
    #expect(try await refused.closed().kind == .closedByPeer(code: 1_001))
    let misnamed = try await server.connect(to: "No_Name")
    #expect(try await misnamed.next().contains(#"{"t":"s","d":"there is no database"#))
    // As soon as a client leaves there is room.
    clients[0].close()
    _ = try await clients[0].closed()
    try await eventually { try await http.request("GET", "/a.json?ns=three").status == 200 }
    // Connected clients have not been disturbed.
    try await clients[1].ask(1, "p", #"{"p":"/a","d":1}"#)
  }
}
