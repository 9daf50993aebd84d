private import Glibc
internal import NIOCore
internal import NIOPosix

/// Looks up the addresses of a host, and turns their order.
///
/// Of several addresses the first is used that takes a connection. So does a machine that hangs: whoever has
/// waited there in vain begins with the next address.
struct TurningResolver: Resolver, Sendable {
  /// How many of the addresses go to the end.
  let turns: Int
  let eventLoop: any EventLoop

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    lookUp(host, port: port, family: AF_INET)
  }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    lookUp(host, port: port, family: AF_INET6)
  }

  /// Nothing can end a lookup of the system; nobody waits for it any more.
  func cancelQueries() {}

  /// The same elements, beginning elsewhere.
  static func turned<Element>(_ elements: [Element], by turns: Int) -> [Element] {
    guard !elements.isEmpty else { return [] }
    let start = turns % elements.count
    return Array(elements[start...] + elements[..<start])
  }

  private func lookUp(
    _ host: String,
    port: Int,
    family: Int32
  ) -> EventLoopFuture<[SocketAddress]> {
    NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [turns] in
      Self.turned(try Self.addresses(of: host, port: port, family: family), by: turns)
    }
  }

  private struct UnknownHost: Error {
    let host: String
  }

  private static func addresses(
    of host: String,
    port: Int,
    family: Int32
  ) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_family = family
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
      throw UnknownHost(host: host)
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let info = next?.pointee {
      next = info.ai_next
      guard let address = UnsafeRawPointer(info.ai_addr) else { continue }
      addresses.append(
        family == AF_INET
          ? SocketAddress(address.loadUnaligned(as: sockaddr_in.self), host: host)
          : SocketAddress(address.loadUnaligned(as: sockaddr_in6.self), host: host)
      )
    }
    return addresses
  }
}
