/// Looks now and then whether the process uses more memory than it may.
struct MemoryGauge {
  /// How long a look is believed, in milliseconds.
  private static let interval: Int64 = 500

  private let limit: Int
  private let measure: @Sendable () -> Int
  private var lastLook: Int64?
  private var wasExhausted = false

  /// Makes a gauge.
  ///
  /// - Parameters:
  ///   - limit: How many mebibytes there may be; 0 is any number.
  ///   - measure: How many there are.
  init(limit: Int, measure: @escaping @Sendable () -> Int = ResidentMemory.mebibytes) {
    self.limit = limit
    self.measure = measure
  }

  /// Whether the process uses more than it may, at a time in milliseconds.
  mutating func isExhausted(at now: Int64) -> Bool {
    guard limit > 0 else { return false }
    if let lastLook, lastLook <= now, now < lastLook + Self.interval { return wasExhausted }
    lastLook = now
    wasExhausted = measure() > limit
    return wasExhausted
  }
}
