/// The outcome of a request, as the server names it.
package struct StatusCode: Hashable, Sendable, CustomStringConvertible {
  /// The word on the wire.
  package let text: String

  /// Makes a status of its word on the wire.
  package init(_ text: String) {
    self.text = text
  }

  /// The request was carried out.
  package static let ok = StatusCode("ok")
  /// The rules do not allow it.
  package static let permissionDenied = StatusCode("permission_denied")
  /// The data had changed since the transaction read them.
  package static let dataStale = StatusCode("datastale")
  /// The request or its data break the rules of the protocol.
  package static let invalidData = StatusCode("invalid_data")
  /// The server cannot do it now.
  package static let unavailable = StatusCode("unavailable")
  /// The data are larger than a limit.
  package static let tooBig = StatusCode("too_big")
  /// The credential is not valid.
  package static let invalidToken = StatusCode("invalid_token")
  /// The credential has expired.
  package static let expiredToken = StatusCode("expired_token")
  /// Any other failure.
  package static let failure = StatusCode("failure")
  /// Local to a client: the connection was lost before the answer came.
  package static let disconnect = StatusCode("disconnect")
  /// Local to a client: a later write on the same place stopped the transaction.
  package static let overriddenBySet = StatusCode("set")
  /// Local to a client: the transaction was tried too often.
  package static let maximumRetries = StatusCode("maxretry")
  /// Local to a client: the write was purged before it was acknowledged.
  package static let writeCanceled = StatusCode("write_canceled")

  package var description: String { text }
}
