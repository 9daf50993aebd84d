internal import Dispatch
internal import RealtimeDatabase

/// What a person reads at a terminal, as far as the person tells.
package struct ReadingPlace: Hashable, Sendable, Identifiable, Codable {
  /// The identifier of the terminal, that of its ``Presence``.
  package let id: String
  /// The post that is open there; nil for the lists.
  package let post: PostID?
  /// The title of the post; nil if it is gone, or not known yet.
  package let title: String?

  /// The terminals of a person in a snapshot, with the keys of posts; none for the lists.
  static func places(_ snapshot: DataSnapshot) -> [(id: String, post: PostID?)] {
    snapshot.childSnapshots.compactMap { child in
      guard let text = child.value as? String else { return nil }
      // What cannot be the key of a post would lead elsewhere.
      return ("\(snapshot.key)/\(child.key)", BlogPaths.isKey(text) ? text : nil)
    }
  }

  /// For how many people it is told what they read.
  static let people = 100
}

// Safety: all state is accessed only on `queue`, the callback queue of the database.
/// Tells others what the user reads on this terminal, once the user has stayed there.
final class ReadingShare: @unchecked Sendable {
  /// How long the user stays with a post before it is told: who leafs through posts tells nothing.
  private static let pause = DispatchTimeInterval.seconds(1)

  private let value: EphemeralValue
  private let queue: DispatchQueue
  private var isOn = false
  private var isConnected = false
  private var post: PostID?
  /// What the others have been told; nil for nothing.
  private var told: String?
  private var waiting: DispatchWorkItem?

  init(at reference: DatabaseReference) {
    value = EphemeralValue(at: reference)
    queue = reference.database.callbackQueue
  }

  /// Begins to tell, or takes back what was told.
  func share(_ isOn: Bool) {
    self.isOn = isOn
    publish()
  }

  func connected() {
    isConnected = true
    publish()
  }

  /// The server takes back what was told when a connection ends.
  func disconnected() {
    isConnected = false
    told = nil
    value.disconnected()
  }

  /// Notes which post is open; nil for the lists.
  func read(_ post: PostID?) {
    self.post = post
    waiting?.cancel()
    waiting = nil
    guard isOn, isConnected, (post ?? "") != told else { return }
    let work = DispatchWorkItem { [weak self] in self?.publish() }
    waiting = work
    queue.asyncAfter(deadline: .now() + Self.pause, execute: work)
  }

  private func publish() {
    waiting?.cancel()
    waiting = nil
    let wanted = isOn ? post ?? "" : nil
    guard isConnected, wanted != told else { return }
    told = wanted
    if let wanted { value.put(wanted) } else { value.remove() }
  }
}

// Safety: all state is accessed only on the callback queue of the database.
/// Watches what the people who are here read, while somebody looks at it.
final class ReadingWatch: @unchecked Sendable {
  private let paths: BlogPaths
  private let burst: Burst
  private let title: (PostID) -> String?
  private let tell: @Sendable ([ReadingPlace]) -> Void
  private var isOn = false
  private var people: [String] = []
  private var observations: [String: Observation] = [:]
  private var places: [String: [(id: String, post: PostID?)]] = [:]
  /// The titles of posts that are in no list here; empty until they are known.
  private var titles: [PostID: String] = [:]

  init(
    _ paths: BlogPaths,
    title: @escaping (PostID) -> String?,
    tell: @escaping @Sendable ([ReadingPlace]) -> Void
  ) {
    self.paths = paths
    burst = Burst(on: paths.queue)
    self.title = title
    self.tell = tell
  }

  /// Starts or stops; while it is off, it costs nothing.
  func watch(_ isOn: Bool) {
    self.isOn = isOn
    if !isOn { titles = [:] }
    follow(people)
  }

  /// Follows these people, who are here.
  func follow(_ people: [String]) {
    self.people = people
    let wanted = Set(isOn ? Array(people.prefix(ReadingPlace.people)) : [])
    observations = observations.filter { wanted.contains($0.key) }
    places = places.filter { wanted.contains($0.key) }
    for uid in wanted where observations[uid] == nil {
      // Where the rules do not let one read it, a person tells nothing.
      observations[uid] = Observation(paths.reading(of: uid)) { [weak self] snapshot in
        self?.places[uid] = ReadingPlace.places(snapshot)
        self?.publish()
      }
    }
    publish()
  }

  /// Reports everything after the current burst of events.
  private func publish() {
    guard isOn else { return }
    burst.end { [weak self] in
      guard let self, isOn else { return }
      tell(
        places.values.joined().map { id, post in
          ReadingPlace(id: id, post: post, title: post.flatMap(shownTitle))
        }
        .sorted { $0.id < $1.id }
      )
    }
  }

  private func shownTitle(of post: PostID) -> String? {
    if let known = title(post) { return known }
    if let asked = titles[post] { return asked.isEmpty ? nil : asked }
    titles[post] = ""
    paths.post(post).child("title").getData { [weak self] _, snapshot in
      guard let self, let title = snapshot?.value as? String else { return }
      titles[post] = title
      publish()
    }
    return nil
  }
}
