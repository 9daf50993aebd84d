private import Glibc
internal import NIOCore
internal import NIOPosix

/// The kind of a failure to connect.
struct ConnectFailure {
  let kind: HTTPClientError.Kind

  init(_ error: any Error) {
    switch error {
    case let error as NIOConnectionError:
      // An address of the host that was tried says more than the look-up of the host.
      kind = error.connectionErrors.last.map { Self($0.error).kind } ?? .unknownHost
    case let error as IOError:
      kind = error.errnoCode == ECONNREFUSED ? .refused : .unreachable
    case ChannelError.connectTimeout: kind = .timedOut
    default: kind = .unreachable
    }
  }
}
