/// Who a peer is at the moment, until when, and whether it is told why it is refused.
struct Standing: Sendable, Equatable {
  var identity: Identity
  /// Whether an administrator stands behind it, who may know what rules and data are like.
  var isExplained = false
  /// When it ends, in milliseconds since 1970; nil is never.
  var expires: Int64?
}
