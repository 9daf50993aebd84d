/// How much of a rectangle one of its parts takes along the split axis.
package enum Length: Hashable, Sendable {
  /// Exactly that many cells, or less when the rectangle is too small.
  case fixed(Int)
  /// A share of what the fixed parts leave, in proportion to the weight.
  case flexible(Int)
}
