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

  @Test("limits the free input of all its connections together", arguments: [1, 3, 200])
  func burdens(connections: Int) throws {
    final class Connection {}
    let open = OpenConnections()
    func connect(_ address: String) throws -> Connection {
      let connection = Connection()
      let network = ClientNetwork(try SocketAddress(ipAddress: address, port: 1))
      open.opened(ObjectIdentifier(connection), from: network) {}
      return connection
    }
    let all = try (0..<connections).map { try connect("2001:db8:1:2::\(String($0, radix: 16))") }
    let (neighbour, other) = (try connect("2001:db8:1:2:ffff::1"), try connect("2001:db8:1:3::1"))
    let now = NIODeadline.uptimeNanoseconds(60_000_000_000)
    for (burden, burst) in [(OpenConnections.Burden.request, 128), (.frame, 256)] {
      func rest(_ connection: Connection, _ time: NIODeadline = now) -> TimeAmount? {
        open.rest(ObjectIdentifier(connection), after: burden, at: time)
      }
      for number in 0..<burst { #expect(rest(all[number % connections]) == nil) }
      let first = try #require(rest(all[0]))
      // Whoever comes next waits behind the others; another network does not.
      #expect(try #require(rest(neighbour)) > first)
      #expect(rest(other) == nil)
      // One that comes back has no allowance of its own.
      let gone = try connect("2001:db8:1:2::1")
      open.closed(ObjectIdentifier(gone))
      let again = try connect("2001:db8:1:2::1")
      #expect(try #require(rest(again)) > first)
      #expect(rest(again, now + .minutes(1)) == nil)
    }
  }
}
