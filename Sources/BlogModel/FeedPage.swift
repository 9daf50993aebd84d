internal import RealtimeDatabase

/// A part of a list that is observed.
///
/// A page is found by a limit and settles to a range with two ends, so that pages next to each other
/// neither overlap nor leave a gap, whatever comes and goes in them.
struct FeedPage {
  /// What an observer has told of a part.
  struct Part {
    let range: FeedRange
    let token: Int
    var entries = OrderedSnapshots<FeedEntry>()
    var query: DatabaseQuery
    var handle: DatabaseHandle = 0
  }

  /// What is shown.
  var part: Part
  /// What will be shown once it is whole.
  var next: Part?
  /// Posts that a limit has pushed out and that stay until the page has settled, in ascending order.
  var held: [FeedEntry] = []

  /// Whether the page has two ends that nothing moves.
  var isSettled: Bool { part.range.limit == nil }
  /// All posts of the page, in ascending order.
  var entries: [FeedEntry] { held.isEmpty ? part.entries.elements : held + part.entries.elements }
  /// How many posts the page has.
  var count: Int { held.count + part.entries.elements.count }
}
