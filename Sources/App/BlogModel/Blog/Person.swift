/// A person who is online, at one or more terminals.
package struct Person: Sendable {
  /// The person, by the name at the terminal that was there first.
  package let author: Author
  /// The terminals, the one that was there first in front; never empty.
  package let terminals: [Presence]

  /// Everybody at some terminals, by name.
  package static func all(in terminals: [Presence]) -> [Person] {
    Dictionary(grouping: terminals) { $0.person.uid }.values
      .map { $0.sorted { ($0.since ?? .max, $0.id) < ($1.since ?? .max, $1.id) } }
      .map { Person(author: $0[0].person, terminals: $0) }
      .sorted { ($0.author.name, $0.author.uid) < ($1.author.name, $1.author.uid) }
  }
}

extension ReadingPlace {
  /// What a person reads at some terminals, as a part of a sentence; nil if nothing is told.
  package static func sentence(of places: [ReadingPlace]) -> String? {
    guard !places.isEmpty else { return nil }
    var titles: [String] = []
    for title in places.compactMap(\.title) where !titles.contains(title) { titles.append(title) }
    guard let first = titles.first else {
      return places.contains { $0.post != nil } ? "reads a post" : "looks at the lists"
    }
    return "reads \"\(first)\"" + (titles.count > 1 ? " and \(titles.count - 1) more" : "")
  }
}
