import RealtimeCore

/// What an ended server has left.
struct Crash: Sendable {
  /// When it ended.
  let period: Period
  /// The last commit.
  let revision: Int64
  /// All data.
  let root: Node

  /// The end in the words of a report.
  var place: String { "when the server had ended at revision \(revision)" }
}
