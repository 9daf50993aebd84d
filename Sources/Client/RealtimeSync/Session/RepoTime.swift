/// The outside world at the moment of an input: two clocks and a draw of chance.
package struct RepoTime: Hashable, Sendable {
  /// Milliseconds since 1970 by the local clock, which may jump.
  package var wall: Int64
  /// Milliseconds of a clock that only goes forward.
  package var monotonic: Int64
  /// A number from 0 up to but not including 1, which spreads reconnects.
  package var random: Double

  /// Makes a moment.
  package init(wall: Int64, monotonic: Int64, random: Double) {
    self.wall = wall
    self.monotonic = monotonic
    self.random = random
  }
}
