import RealtimeHub
import RealtimeSync

/// One connection through the network: in order both ways, each end may learn late that it is gone.
struct Link {
  /// One way through a link.
  struct Way {
    /// When the last message sent arrives.
    var lastArrival: Int64 = 0
    /// Until when everything sent is held up.
    var blockedUntil: Int64 = 0
    /// From when on nothing arrives.
    var cutAt: Int64 = .max
    /// The number of messages on their way.
    var inFlight = 0

    /// When a message sent now arrives.
    mutating func arrival(now: Int64, delay: Int64) -> Int64 {
      lastArrival = max(lastArrival, now + delay, blockedUntil)
      return lastArrival
    }
  }

  let client: Int
  let incarnation: Int
  let connection: ConnectionID
  let peer: PeerID
  let delay: Int64
  var up = Way()
  var down = Way()
  var isClientOpen = true
  /// Whether the server has accepted and has not closed it.
  var isServerOpen = false
  /// The connection before, as the client names it to the server.
  var previous: PeerID?

  /// Whether nothing is under way, nor still to be noticed.
  var isQuiet: Bool {
    if !isClientOpen, !isServerOpen { return true }
    let isWhole = up.cutAt == .max && down.cutAt == .max
    return isClientOpen && isServerOpen && isWhole && up.inFlight + down.inFlight == 0
  }
}
