import RealtimeProtocol
import RealtimeTree

/// A write that the server has not answered; it is sent again on every new connection.
struct OutstandingWrite: Sendable {
  /// Who waits for the answer.
  enum Purpose: Sendable, Equatable {
    /// The caller, and the pending write it shows as.
    case caller(RequestToken, writeID: Int64)
    /// The transactions that went into it.
    case transactions
  }

  /// The message, values of the server undecided, with the key it was first sent with.
  var request: WriteRequest
  let purpose: Purpose
  /// Whether it ever left, so that the server may have applied it.
  var wasSent = false
}
