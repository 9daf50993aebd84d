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
      try await http.request("GET", "/a.json?ns=test-\(number)", gives: body)
    }
  }
}
