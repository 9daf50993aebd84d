import NIOCore
import NIOPosix
import Testing

@testable import RealtimeTransport

@Suite("Hosts with several addresses")
struct TurningResolverTests {
  private func resolver(_ turns: Int) -> TurningResolver {
    TurningResolver(turns: turns, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
  }

  @Test("A retry starts with the next address and wraps around")
  func turns() {
    let all = ["a", "b", "c"]
    #expect(TurningResolver.turned(all, by: 0) == ["a", "b", "c"])
    #expect(TurningResolver.turned(all, by: 1) == ["b", "c", "a"])
    #expect(TurningResolver.turned(all, by: 5) == ["c", "a", "b"])
    #expect(TurningResolver.turned([String](), by: 3) == [])
  }

  @Test("Names and addresses are resolved as by the system")
  func lookUp() async throws {
    let found = try await resolver(1).initiateAQuery(host: "127.0.0.7", port: 80).get()
    #expect(found.map(\.ipAddress) == ["127.0.0.7"])
    #expect(found.map(\.port) == [80])
    let local = try await resolver(3).initiateAQuery(host: "localhost", port: 81).get()
    #expect(local.contains { $0.ipAddress == "127.0.0.1" && $0.port == 81 })
    let six = try await resolver(1).initiateAAAAQuery(host: "::1", port: 82).get()
    #expect(six.map(\.ipAddress) == ["::1"])
  }

  @Test("A host without an address fails with an error")
  func unknown() async {
    await #expect(throws: (any Error).self) {
      try await self.resolver(1).initiateAQuery(host: "nobody.invalid", port: 80).get()
    }
  }
}
