private import Glibc
internal import NIOCore
internal import NIOPosix

/// Looks up the addresses of a host and rotates their order.
///
/// A client uses the first address that accepts a connection. A machine that hangs still accepts
/// connections, so a client that has waited for it in vain starts with the next address.
struct TurningResolver: Resolver, Sendable {
  /// How many addresses move from the front of the list to its end.
  let turns: Int
  let eventLoop: any EventLoop

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    lookUp(host, port: port, family: AF_INET)
  }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
    lookUp(host, port: port, family: AF_INET6)
  }

  /// Does nothing: a system lookup cannot be cancelled, and its result is ignored.
  func cancelQueries() {}

  /// The same elements, rotated so that the first `turns` of them come last.
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

  private struct UnknownHost: Error {}

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
      throw UnknownHost()
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
