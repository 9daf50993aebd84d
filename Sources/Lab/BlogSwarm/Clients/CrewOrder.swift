/// What the driver of a run tells a process of clients, a line each.
package enum CrewOrder: Hashable, Sendable {
  /// To do what the plan says, which began at this time of the monotonic clock, in microseconds.
  case begin(Int64)
  /// To do nothing new any more.
  case finish
  /// To say how much is under way.
  case count
  /// To say what the views have.
  case view
  /// To note the final views, to say what was done, and to end.
  case conclude
  /// To make a mistake on purpose.
  case misbehave(InjectedBug)

  /// The order as a line.
  package var line: String {
    switch self {
    case .begin(let start): "begin \(start)"
    case .finish: "finish"
    case .count: "count"
    case .view: "view"
    case .conclude: "conclude"
    case .misbehave(let bug): "misbehave \(bug.rawValue)"
    }
  }

  /// Reads a line; nil when it is no order.
  package init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch (words.first, words.count > 1 ? words[1] : nil) {
    case ("begin", let start?):
      guard let start = Int64(start) else { return nil }
      self = .begin(start)
    case ("finish", nil): self = .finish
    case ("count", nil): self = .count
    case ("view", nil): self = .view
    case ("conclude", nil): self = .conclude
    case ("misbehave", let bug?):
      guard let bug = InjectedBug(rawValue: bug) else { return nil }
      self = .misbehave(bug)
    default: return nil
    }
  }
}
