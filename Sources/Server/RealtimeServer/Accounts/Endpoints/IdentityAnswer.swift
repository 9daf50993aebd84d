package import RealtimeCore

/// The answer to a request about identities.
package struct IdentityAnswer: Sendable {
  /// The status of HTTP.
  package let status: Int
  /// The body.
  package let json: JSONValue

  init(_ json: JSONValue) {
    status = 200
    self.json = json
  }

  /// Makes the answer to a request that is refused.
  package init(_ error: IdentityError) {
    status = error.status
    json = error.json
  }
}
