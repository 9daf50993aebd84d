/// Why a plain HTTP request has got no answer.
package struct HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Kind: Hashable, Sendable {
    /// The text is not an absolute URL of http or https.
    case invalidURL
    /// No address is known for the host.
    case unknownHost
    /// Nothing listens at the address.
    case refused
    /// The address cannot be reached.
    case unreachable
    /// The answer was not complete in time.
    case timedOut
    /// The connection could not be encrypted, or must not be trusted.
    case insecure(TLSFailure.Kind)
    /// What answers does not speak HTTP.
    case notHTTP
    /// The answer is longer than allowed.
    case tooLarge
    /// The connection ended before the answer was complete.
    case lost
    /// The task that waited was cancelled.
    case cancelled
  }

  /// The kind of failure.
  package let kind: Kind
  /// What happened, in a sentence that names the server.
  package let description: String

  /// Makes an error.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
