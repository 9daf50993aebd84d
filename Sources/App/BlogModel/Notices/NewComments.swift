/// How many comments of others came since a post was read.
package struct NewComments: Hashable, Sendable {
  /// The greatest number that is counted.
  package static let limit = 10

  /// The number.
  package let count: Int
  /// Whether there may be more than that.
  package var isAtLeast: Bool { count >= Self.limit }

  /// Makes a number of comments.
  package init(count: Int) { self.count = min(count, Self.limit) }
}
