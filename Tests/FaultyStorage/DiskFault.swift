/// What a disk does wrong for a while: the n-th operation of a kind fails, and some after it.
package struct DiskFault: Sendable, CustomStringConvertible {
  /// What fails.
  package enum Kind: String, CaseIterable, Sendable {
    /// A write, of which half is done.
    case write
    /// A wait for the disk.
    case sync
    /// A write, since there is no space.
    case full
  }

  /// What fails.
  package let kind: Kind
  /// Which operation is the first to fail, from 1.
  package let number: Int
  /// How many fail before the disk works again.
  package let times: Int

  /// Describes a fault.
  package init(_ kind: Kind, at number: Int, times: Int) {
    self.kind = kind
    self.number = number
    self.times = times
  }

  package var description: String { "\(kind) \(number) fails, \(times) in all" }
}
