/// A reason why a ``DatabaseTokenProvider`` has no token that tells whether waiting helps.
///
/// Of other errors the database assumes that it does.
package protocol DatabaseTokenFailure: Error {
  /// Whether the same attempt may go well later, without anybody doing anything.
  var isTemporary: Bool { get }
}
