/// A part of a presentation: something that goes wrong elsewhere, and not here.
enum DemoScene: CaseIterable, Hashable, Sendable {
  /// Everybody stars the same post at once.
  case race
  /// One terminal is cut off, goes on, and comes back.
  case cable
  /// A write is refused by a rule.
  case refusal
  /// The server is killed.
  case kill

  /// The title.
  var title: String {
    switch self {
    case .race: "Race on one star"
    case .cable: "Pulled cable"
    case .refusal: "Refused write"
    case .kill: "Killed server"
    }
  }

  /// What to look at.
  var sentence: String {
    switch self {
    case .race: "All terminals press s on the same post at once; watch its count."
    case .cable: "carol is cut off and goes on writing; watch her status line, then the others."
    case .refusal:
      "mallory, who is not signed in, presses s; watch that terminal say which rule refuses it."
    case .kill: "kill -9 hits the server; watch the terminals go on with a new one."
    }
  }
}
