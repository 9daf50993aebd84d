/// Whether a request is allowed, and why.
package struct Decision: Hashable, Sendable {
  /// Whether the request is allowed.
  package let isAllowed: Bool
  /// Whether it stays allowed whatever happens to the data and however much time goes by.
  package let isLasting: Bool
  /// Which rule decided.
  package let explanation: Explanation
}
