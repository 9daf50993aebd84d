private import RealtimeCore
internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// Publishes and watches who is online and who is writing; the server clears both when a terminal
/// disconnects.
final class PeopleWatch: @unchecked Sendable {
  private let paths: BlogPaths
  private var me: Author
  private let terminal: TerminalName?
  private let tell: @Sendable (BlogEvent) -> Void
  private var isConnected = false
  private var since: Int64?
  private var writing: PostID?
  /// The user's presence, and below the posts the user is writing on, as published to the others.
  private let presence: EphemeralValue?
  private var typing: [PostID: EphemeralValue] = [:]
  private var watched: [PostID: Observation] = [:]
  private var observation: Observation?

  init(
    _ paths: BlogPaths,
    me: Author,
    terminal: TerminalName?,
    tell: @escaping @Sendable (BlogEvent) -> Void
  ) {
    self.paths = paths
    self.me = me
    self.terminal = terminal
    self.tell = tell
    presence = terminal.map {
      EphemeralValue(at: paths.presence(of: me.uid).child(of: ChildKey($0.key)))
    }
  }

  /// Watches who is online, or does so anew.
  func start() {
    observation = nil
    observation = Observation(paths.people) { [tell] snapshot in
      tell(.people(Self.people(snapshot)))
    }
  }

  /// Publishes the presence again, because the server cleared it when the last connection ended.
  func connected(now: Int64) {
    isConnected = true
    since = since ?? now
    guard presence != nil else { return publish() }
    // The rules of a shared blog let people go only by the names of their accounts.
    let name = paths.user(me.uid).child("username")
    name.getData { [weak self] error, snapshot in
      guard let self, isConnected else { return }
      if error == nil, snapshot?.exists() == false { name.setValue(me.name) { _, _ in } }
      publish()
    }
  }

  /// Goes by another name from now on.
  func rename(_ me: Author) {
    self.me = me
    if isConnected { publish() }
  }

  private func publish() {
    presence?.put(["name": me.name, "terminal": terminal?.text ?? "", "since": since ?? 0])
    if let writing { setTyping(true, on: writing) }
  }

  /// Stops publishing while offline; what is typed offline would be out of date when it arrives.
  func disconnected() {
    isConnected = false
    presence?.disconnected()
    for value in typing.values { value.disconnected() }
    typing = [:]
  }

  func setTyping(_ isTyping: Bool, on post: PostID) {
    writing = isTyping ? post : nil
    guard isConnected else { return }
    if isTyping {
      let value =
        typing[post]
        ?? EphemeralValue(at: paths.typing(on: post).child(of: ChildKey(me.uid)))
      typing[post] = value
      value.put(["name": me.name, "at": ServerValue.timestamp()])
    } else {
      // The value is kept, so that the answer to the removal cannot undo a later request.
      typing[post]?.remove()
    }
  }

  func watchTyping(on post: PostID) {
    guard watched[post] == nil else { return }
    watched[post] = Observation(paths.typing(on: post)) { [me, tell] snapshot in
      let typists = snapshot.childSnapshots.compactMap { child -> Typist? in
        guard child.key != me.uid, let name = child.text("name"), let at = child.time("at") else {
          return nil
        }
        return Typist(person: Author(uid: child.key, name: name), at: at)
      }
      tell(.typing(post, typists))
    }
  }

  func unwatchTyping(on post: PostID) { watched[post] = nil }

  static func people(_ snapshot: DataSnapshot) -> [Presence] {
    snapshot.childSnapshots.flatMap { person in
      person.childSnapshots.compactMap { child in
        guard let name = child.text("name") else { return nil }
        return Presence(
          id: "\(person.key)/\(child.key)",
          person: Author(uid: person.key, name: name),
          terminal: child.text("terminal") ?? "",
          since: child.time("since")
        )
      }
    }
  }
}

/// A terminal that is online.
package struct Presence: Hashable, Sendable, Identifiable, Codable {
  /// The person's identifier and the key of the terminal, separated by a slash.
  package let id: String
  package let person: Author
  /// The name of the terminal, as shown to the others.
  package let terminal: String
  /// When it came online, in milliseconds since 1970; nil if unknown.
  package let since: Int64?
}

/// A person who is writing a comment.
package struct Typist: Hashable, Sendable, Codable {
  /// How long, in milliseconds, a sign of typing counts; a program that was killed never withdraws
  /// it.
  package static let patience: Int64 = 30_000

  package let person: Author
  /// When they last typed, in milliseconds since 1970.
  package let at: Int64

  package init(person: Author, at: Int64) {
    self.person = person
    // Other clients may have written any number; clamped so that arithmetic cannot overflow.
    self.at = max(0, min(at, 1 << 53))
  }

  package func isWriting(now: Int64) -> Bool { now < at + Self.patience }
}

/// How others see a terminal.
package struct TerminalName: Hashable, Sendable {
  /// A key unique to the terminal, which stays the same across reconnections.
  package let key: String
  /// The name of the terminal, such as that of its device.
  package let text: String

  package init(key: String, text: String) {
    self.key = key
    self.text = text
  }
}

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
