/// Something that will be done to the swarm at a certain time.
package struct PlannedFault: Hashable, Sendable {
  /// When it begins, in microseconds since the start.
  package let at: Int64
  /// How long it lasts, in microseconds.
  package let lasting: Int64
  /// What is done.
  package let kind: FaultKind
  /// The process of clients that it is done to, where it is done to one.
  package let process: Int
  /// How strong it is, from 0 to 99.
  package let strength: Int

  /// The jump of a clock in milliseconds: up to two hours, forwards or backwards.
  package var clockStep: Int64 { Int64(strength - 50) * 144_000 }
}
