/// A small generator whose whole state is its seed, so that a run can be planned again.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator that gives the same numbers for the same seed.
  ///
  /// - Parameters:
  ///   - seed: The seed of a whole run.
  ///   - stream: What the numbers are for; different streams of one seed have nothing in common.
  package init(seed: UInt64, stream: UInt64 = 0) {
    state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
    state = next()
  }

  /// Returns the next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number from 0 up to but not including the bound, which is at least 1.
  package mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// Returns a number from 0 up to but not including 1.
  package mutating func fraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
