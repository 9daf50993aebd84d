private import Glibc
internal import NIOCore
internal import NIOPosix

/// Puts the errors of sockets into words for people.
enum FailureText {
  /// What went wrong, without the names of functions.
  static func describe(_ error: any Error) -> String {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first {
        describe(first.error)
      } else {
        "the host \(error.host) is not known"
      }
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the path of the socket is longer than \(SocketFile.pathBytes) bytes"
    case let error as TLSFailure: error.description
    case ChannelError.connectTimeout: "it did not answer in time"
    default: "\(error)"
    }
  }
}
