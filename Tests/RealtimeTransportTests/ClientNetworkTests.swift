import NIOCore
import Testing

@testable import RealtimeTransport

@Suite("The network of a client")
struct ClientNetworkTests {
  private func networks(_ address: String) throws -> [ClientNetwork?] {
    let socket = try SocketAddress(ipAddress: address, port: 4_711)
    return [ClientNetwork(socket), ClientNetwork(of: .network(address: "\(socket)"))]
  }

  @Test(
    "is all of an IPv4 address, and the first 64 bits of an IPv6 address",
    arguments: [
      ("127.0.0.2", "127.0.0.2"), ("::ffff:10.1.2.3", "10.1.2.3"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::", "2001:db8:1:2::/64"),
      ("::1", "0:0:0:0::/64"), ("fe80::1", "fe80:0:0:0::/64"),
    ]
  )
  func description(address: String, network: String) throws {
    #expect(try networks(address).map { $0?.description } == [network, network])
  }

  @Test("is the same for all addresses of a subscriber, and for no others")
  func share() throws {
    let first = try networks("2001:db8:1:2:3:4:5:6")
    #expect(try networks("2001:db8:1:2:ffff::1") == first)
    #expect(try networks("2001:db8:1:3:3:4:5:6") != first)
    #expect(try networks("127.0.0.1") != networks("127.0.0.2"))
    #expect(try ClientNetwork(SocketAddress(unixDomainSocketPath: "/a")) == nil)
  }
}
