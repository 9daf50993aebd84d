import NIOCore

/// Where a load goes, and what is spoken there.
struct LoadTarget: Sendable {
  let address: SocketAddress
  let dialect: Dialect
}
