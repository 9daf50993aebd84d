internal import RealtimeCore

/// A message that is longer than it may be, of which nothing is kept.
struct ExcessMessage {
  /// How many text frames are still to come, one that has begun included.
  var framesToCome: Int
  let reason: String
  var skimmer = RequestSkimmer()
  var hasProgressed = false

  init(frames: Int, reason: String) {
    framesToCome = frames
    self.reason = reason
  }

  mutating func pass(_ bytes: [UInt8]) {
    skimmer.scan(bytes)
    hasProgressed = true
  }
}
