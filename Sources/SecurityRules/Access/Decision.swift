/// Whether a request is allowed, and why.
package struct Decision: Hashable, Sendable {
  /// Whether the request is allowed.
  package let isAllowed: Bool
  /// Which rule decided.
  package let explanation: Explanation
}
