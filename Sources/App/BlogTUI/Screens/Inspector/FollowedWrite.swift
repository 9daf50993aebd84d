/// A write, or several that one frame carries: what caused it, its frames, and its echo.
struct FollowedWrite: Equatable, Sendable {
  /// The largest number of earlier writes that a push is compared with.
  private static let candidates = 50

  private let names: Set<String>

  private init(_ names: [String]) {
    self.names = Set(names)
  }

  /// Finds the write that an event belongs to, or the latest whose echo it can be; nil if there is
  /// none.
  init?(at index: Int, in entries: [InspectedEvent]) {
    guard entries.indices.contains(index) else { return nil }
    guard entries[index].writes.isEmpty else {
      self.init(entries[index].writes)
      return
    }
    guard entries[index].isNews else { return nil }
    var tried: Set<[String]> = []
    for entry in entries[..<index].reversed() where !entry.writes.isEmpty {
      guard tried.count < Self.candidates else { return nil }
      guard tried.insert(entry.writes).inserted else { continue }
      let write = Self(entry.writes)
      guard write.members(of: entries).contains(index) else { continue }
      self = write
      return
    }
    return nil
  }

  /// The indices of what belongs to it: its own events, and until it has ended, the data that came
  /// or changed at its locations.
  ///
  /// - Complexity: O(n) in the number of events
  func members(of entries: [InspectedEvent]) -> [Int] {
    let own = entries.indices.filter { entries[$0].writes.contains(where: names.contains) }
    guard let first = own.first, let last = own.last else { return [] }
    let ended = Set(own.lazy.filter { entries[$0].endsWrite }.flatMap { entries[$0].writes })
    let isOver = names.isSubset(of: ended)
    let end = isOver ? last : entries.count - 1
    let sent = own.filter { entries[$0].event.kind == .sent }
    let places = Set((sent.isEmpty ? own : sent).flatMap { entries[$0].places })
    return (first...end).filter { index in
      let entry = entries[index]
      guard entry.writes.isEmpty else { return entry.writes.contains(where: names.contains) }
      return entry.isNews
        && entry.places.contains { place in places.contains { WirePath.overlap($0, place) } }
    }
  }
}
