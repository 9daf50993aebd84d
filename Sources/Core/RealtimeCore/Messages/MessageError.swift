/// A reason why a message cannot be understood.
package struct MessageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package let reason: String
  /// The number of the request, where the message got that far, so that it can be answered.
  package let requestID: Int64?

  /// Makes an error.
  package init(_ reason: String, requestID: Int64? = nil) {
    self.reason = reason
    self.requestID = requestID
  }

  package var description: String { reason }
}
