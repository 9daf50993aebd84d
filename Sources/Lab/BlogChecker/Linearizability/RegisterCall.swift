/// One call of an object, from its beginning to its end.
package struct RegisterCall: Hashable, Sendable {
  /// What the call does to a whole number.
  package enum Action: Hashable, Sendable {
    /// Gives the number.
    case read(Int64)
    /// Replaces the number.
    case write(Int64)
    /// Adds to the number, and gives the sum where it is known.
    case add(Int64, sum: Int64?)
    /// Replaces the number if it is another, and tells whether it was.
    case compareAndSet(expected: Int64, new: Int64, succeeded: Bool)
  }

  /// What it does.
  package var action: Action
  /// When it began.
  package var invoked: Moment
  /// When it ended, or nil for a call that may have taken effect at any time since, or never.
  package var returned: Moment?

  /// Makes a call.
  package init(_ action: Action, invoked: Moment, returned: Moment?) {
    self.action = action
    self.invoked = invoked
    self.returned = returned
  }

  /// The number after the call, or nil when the call cannot have gone this way.
  func applied(to number: Int64) -> Int64? {
    switch action {
    case .read(let value): return value == number ? number : nil
    case .write(let value): return value
    case .add(let amount, let sum):
      let (result, overflow) = number.addingReportingOverflow(amount)
      if overflow || sum.map({ $0 != result }) ?? false { return nil }
      return result
    case .compareAndSet(let expected, let new, let succeeded):
      guard succeeded == (number == expected) else { return nil }
      return succeeded ? new : number
    }
  }
}
