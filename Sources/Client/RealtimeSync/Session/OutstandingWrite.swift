import RealtimeCore

/// A write that the server has not answered; it is sent again on every new connection.
struct OutstandingWrite: Sendable {
  /// Who waits for the answer.
  enum Purpose: Sendable, Equatable {
    /// The caller, or nobody when that was a process before this one; it shows as the pending write
    /// of the same number.
    case caller(RequestToken?)
    /// The transactions that went into it.
    case transactions
  }

  /// The message, values of the server undecided, with the key it was first sent with.
  var request: WriteRequest
  let purpose: Purpose
  /// Who made it, or nil when nobody was signed in; nobody else sends it.
  let owner: String?
  /// Whether it ever left, so that the server may have applied it.
  var wasSent = false

  /// Whether it is to wait for the user who made it, while someone else is signed in.
  func isHeld(from user: String?) -> Bool {
    owner.map { $0 != user } ?? false
  }
}
