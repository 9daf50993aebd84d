internal import RealtimeCore

/// A location in a tree, which need not exist, with the way back up; nothing is copied.
struct Snapshot {
  let node: NodeView
  /// The number of keys from the root down.
  let depth: Int
  let origin: Origin

  /// How the location was reached.
  enum Origin {
    case root
    /// It lies on the way to where a rule is asked, in the data as they are or as they would be.
    case way(isNew: Bool)
    /// By a step down, from a location that the evaluator remembers under this number.
    case step(Int)
    /// By a step down, of which nobody wants to go back.
    case apart
  }
}
