import BlogModel

/// Who is online: each person once, with what the person reads.
extension Model {
  mutating func openPeople() {
    show(Page(title: "Who is here", content: .people(session.peopleParagraphs)))
  }

  /// Keeps the page up to date, and hears what others read only while it is shown.
  mutating func followPeople() -> [Effect] {
    var isShown = false
    if case .people? = help?.content { isShown = true }
    if isShown { stack[Page.self]?.show(people: session.peopleParagraphs, in: session) }
    return session.reading.company.watchPlaces(isShown)
  }
}

extension Session {
  /// A paragraph for each person, without those who are muted.
  fileprivate var peopleParagraphs: [Page.Paragraph] {
    let muted = reading.lists.muted
    let people = Person.all(in: reading.company.people).filter { !muted.contains($0.author.uid) }
    guard !people.isEmpty else {
      return [Page.Paragraph(text: "Nobody seems to be online.")]
    }
    return people.map { Page.Paragraph(text: text(of: $0)) }
  }

  private func text(of person: Person) -> SafeText {
    let name = shownName(of: person.author)
    let terminal = SafeText(untrusted: person.terminals[0].terminal, limit: 60)
    let others = person.terminals.count - 1
    let more: SafeText =
      others == 0 ? "" : others == 1 ? " and another one" : " and " + SafeText(others) + " others"
    let since = Age.text(person.terminals[0].since, now: now)
    let age: SafeText = since == "now" ? "since just now" : "for " + since
    let places = reading.company.places(of: person.terminals)
    let what = ReadingPlace.sentence(of: places).map { SafeText(untrusted: $0, limit: 80) }
    return name + "  " + terminal + more + "  " + age + (what.map { "  " + $0 } ?? .empty)
  }
}
