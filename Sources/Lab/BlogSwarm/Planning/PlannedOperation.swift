/// Something that a user will do at a certain time.
package struct PlannedOperation: Hashable, Sendable {
  /// What it is done to.
  package enum Target: Hashable, Sendable {
    /// A post that everybody has to do with.
    case hot(Int)
    /// One of the other posts that the user sees, chosen by this number.
    case any(Int)
  }

  /// When it arrives, in microseconds since the start; how busy the user is then does not matter.
  package let at: Int64
  /// Who does it, counted from 0.
  package let user: Int
  /// The number of the operation in the whole run.
  package let number: Int
  /// What is done.
  package let action: SwarmAction
  /// What it is done to.
  package let target: Target
}
