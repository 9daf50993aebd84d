internal import Dispatch
private import RealtimeCore
internal import RealtimeDatabase

// Safety: everything is touched only on the callback queue of the database.
/// Who is here and who is writing, as the others see it; the server clears both when a terminal ends.
final class PeopleWatch: @unchecked Sendable {
  private let paths: BlogPaths
  private let me: Author
  private let terminal: TerminalName?
  private let queue: DispatchQueue
  private let tell: @Sendable (BlogEvent) -> Void
  private var isConnected = false
  private var since: Int64?
  private var writing: PostID?
  /// That I am here, and that I am writing on posts, as the others are told it.
  private let presence: EphemeralValue?
  private var typing: [PostID: EphemeralValue] = [:]
  private var watched: [PostID: DatabaseHandle] = [:]

  init(
    _ paths: BlogPaths,
    me: Author,
    terminal: TerminalName?,
    queue: DispatchQueue,
    tell: @escaping @Sendable (BlogEvent) -> Void
  ) {
    self.paths = paths
    self.me = me
    self.terminal = terminal
    self.queue = queue
    self.tell = tell
    presence = terminal.map { terminal in
      EphemeralValue(
        at: paths.presence(of: me.uid).child(of: ChildKey(terminal.key)),
        queue: queue
      )
    }
  }

  func start() {
    paths.people.observe(.value) { [tell] snapshot in
      tell(.people(Self.people(snapshot)))
    }
  }

  /// Says again that I am here, since the server has forgotten it with the last connection.
  func connected(now: Int64) {
    isConnected = true
    let since = since ?? now
    self.since = since
    presence?.put(["name": me.name, "terminal": terminal?.text ?? "", "since": since])
    if let writing { setTyping(true, on: writing) }
  }

  /// Notes that others cannot be told anything; it would be old when it reaches them.
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
        ?? EphemeralValue(at: paths.typing(on: post).child(of: ChildKey(me.uid)), queue: queue)
      typing[post] = value
      value.put(["name": me.name, "at": ServerValue.timestamp()])
    } else {
      // It is kept: what answers the removal must not undo what is asked for after it.
      typing[post]?.remove()
    }
  }

  func watchTyping(on post: PostID) {
    guard watched[post] == nil else { return }
    watched[post] = paths.typing(on: post).observe(.value) { [me, tell] snapshot in
      let typists = snapshot.childSnapshots.compactMap { child -> Typist? in
        guard child.key != me.uid, let name = child.text("name"), let at = child.time("at") else {
          return nil
        }
        return Typist(person: Author(uid: child.key, name: name), at: at)
      }
      tell(.typing(post, typists))
    }
  }

  func unwatchTyping(on post: PostID) {
    guard let handle = watched.removeValue(forKey: post) else { return }
    paths.typing(on: post).removeObserver(withHandle: handle)
  }

  private static func people(_ snapshot: DataSnapshot) -> [Presence] {
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

/// A terminal that somebody has open.
package struct Presence: Hashable, Sendable, Identifiable, Codable {
  /// The key of the terminal.
  package let id: String
  /// Who it is.
  package let person: Author
  /// Which terminal it is, in words.
  package let terminal: String
  /// Since when, in milliseconds since 1970; nil when nobody knows.
  package let since: Int64?

  /// Makes an entry.
  package init(id: String, person: Author, terminal: String, since: Int64?) {
    self.id = id
    self.person = person
    self.terminal = terminal
    self.since = since
  }
}

/// Somebody who is writing a comment.
package struct Typist: Hashable, Sendable, Codable {
  /// How long a sign of life counts, in milliseconds; a program that was killed sends no other.
  package static let patience: Int64 = 30_000

  /// Who it is.
  package let person: Author
  /// When they last typed, in milliseconds since 1970.
  package let at: Int64

  /// Makes an entry.
  package init(person: Author, at: Int64) {
    self.person = person
    // Others may have written any number; this one can be counted from.
    self.at = max(0, min(at, 1 << 53))
  }

  /// Whether they are likely to be still writing.
  package func isWriting(now: Int64) -> Bool { now < at + Self.patience }
}

/// How the others know a terminal.
package struct TerminalName: Hashable, Sendable {
  /// A key of its own, which stays when the connection is made again.
  package let key: String
  /// What it is called, such as the name of its device.
  package let text: String

  /// Makes a name.
  ///
  /// - Parameters:
  ///   - key: A legal key of a child.
  ///   - text: What it is called.
  package init(key: String, text: String) {
    self.key = key
    self.text = text
  }
}
