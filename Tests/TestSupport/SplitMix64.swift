/// A small generator whose whole state is its seed, so that a failing run can be repeated.
package struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator that returns the same numbers for the same seed.
  package init(seed: UInt64) {
    state = seed
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

  /// Returns true once in this many times, on average.
  package mutating func once(in times: Int) -> Bool {
    below(times) == 0
  }

  /// Returns one of the elements; there must be at least one.
  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}
