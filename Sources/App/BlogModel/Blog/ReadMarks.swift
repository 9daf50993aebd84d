private import Foundation
private import RealtimeCore
internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// What the user has read, stored in the database so that all of the user's terminals agree.
final class ReadMarks: @unchecked Sendable {
  /// The maximum number of marks; rules cannot count children, but they can restrict the keys.
  private static let slotCount = 1_000
  /// The number of marks above which redundant ones are dropped.
  private static let limit = 900

  private let place: DatabaseReference
  private let tell: @Sendable (BlogEvent) -> Void
  /// Whether this program has initialized or pruned the marks; once is enough.
  private var hasWritten = false
  /// The slot in which each post's mark is stored.
  private var slots: [PostID: String] = [:]
  /// The posts whose marks are stored under the posts' own keys, as earlier versions did.
  private var old: Set<PostID> = []
  private var observation: Observation?

  init(_ place: DatabaseReference, tell: @escaping @Sendable (BlogEvent) -> Void) {
    self.place = place
    self.tell = tell
  }

  /// Watches the marks, or does so anew.
  func start() {
    observation = nil
    observation = Observation(place) { [weak self] snapshot in self?.take(snapshot) }
  }

  func apply(_ change: ReadChange, completion: @escaping BlogCompletion = { _ in }) {
    let answered = answered(completion)
    switch change {
    case .post(let post, let mark):
      place.updateChildValues(values(of: [post: mark]), withCompletionBlock: answered)
    case .allRead:
      let values: [String: Any] = [
        "before": ServerValue.timestamp(), "marks": NSNull(), "posts": NSNull(),
      ]
      place.updateChildValues(values, withCompletionBlock: answered)
    case .restore(let before, let marks):
      var values = values(of: marks)
      values["before"] = before
      place.updateChildValues(values, withCompletionBlock: answered)
    case .stars(let counts):
      guard !counts.isEmpty else { return completion(nil) }
      place.child("stars").updateChildValues(counts, withCompletionBlock: answered)
    case .clearNotices(let key):
      place.child("cleared").setValue(key, withCompletionBlock: answered)
    }
  }

  private static func value(of mark: ReadState.Mark, on post: PostID) -> [String: Any] {
    switch mark {
    case .read(let comment): ["post": post, "read": comment]
    case .unread: ["post": post, "read": false]
    }
  }

  /// What an update writes for marks, or to remove those that are nil.
  private func values(of marks: [PostID: ReadState.Mark?]) -> [String: Any] {
    var values: [String: Any] = [:]
    for (post, mark) in marks {
      let slot = slot(for: post)
      slots[post] = mark == nil ? nil : slot
      values["marks/\(slot)"] = mark.map { Self.value(of: $0, on: post) } ?? NSNull()
      if old.remove(post) != nil { values["posts/\(post)"] = NSNull() }
    }
    return values
  }

  /// The slot for a post's mark: its current one, a free one, or that of the oldest post.
  ///
  /// The search starts at a hash of the post's key, so that two terminals of the same user that
  /// mark two posts at once hardly ever pick the same slot.
  private func slot(for post: PostID) -> String {
    if let slot = slots[post] { return slot }
    let taken = Set(slots.values)
    let first = post.utf8.reduce(0) { ($0 * 31 + Int($1)) % Self.slotCount }
    for offset in 0..<Self.slotCount {
      let slot = Self.slotName((first + offset) % Self.slotCount)
      if !taken.contains(slot) { return slot }
    }
    guard let oldest = slots.min(by: { $0.key < $1.key }) else { return Self.slotName(first) }
    slots[oldest.key] = nil
    return oldest.value
  }

  private static func slotName(_ number: Int) -> String { "m" + String(number + 1_000).dropFirst() }

  /// Reports that a mark was answered, after the events that the answer caused.
  private func answered(
    _ completion: @escaping BlogCompletion
  ) -> @Sendable ((any Error)?, DatabaseReference) -> Void {
    { [tell] error, _ in
      completion(error)
      tell(.markAnswered)
    }
  }

  private func take(_ snapshot: DataSnapshot) {
    let state = adopt(snapshot)
    guard snapshot.time("before") != nil else { return begin() }
    tell(.readState(state))
    prune(state)
  }

  /// Learns where marks are stored, and returns what they say.
  func adopt(_ snapshot: DataSnapshot) -> ReadState {
    var state = ReadState(before: snapshot.time("before") ?? 0)
    slots = [:]
    old = []
    for child in snapshot.childSnapshot(forPath: "posts").childSnapshots {
      guard let mark = Self.mark(child.value) else { continue }
      state.marks[child.key] = mark
      old.insert(child.key)
    }
    for child in snapshot.childSnapshot(forPath: "marks").childSnapshots {
      guard let post = child.text("post"),
        let mark = Self.mark(child.childSnapshot(forPath: "read").value)
      else { continue }
      state.marks[post] = mark
      slots[post] = child.key
    }
    for child in snapshot.childSnapshot(forPath: "stars").childSnapshots {
      guard let count = child.node.leafValue?.number.flatMap({ Int(exactly: $0) }) else { continue }
      state.stars = (state.stars ?? [:]).merging([child.key: count]) { $1 }
    }
    return state
  }

  private static func mark(_ value: Any?) -> ReadState.Mark? {
    if let comment = value as? String { return .read(lastComment: comment) }
    return value as? Bool == false ? .unread : nil
  }

  /// Initializes the read state, so that a new user has not missed everything ever written.
  ///
  /// The local data may be stale, so the server is asked before anything counts as read.
  private func begin() {
    guard !hasWritten else { return }
    hasWritten = true
    let before = place.child("before")
    before.getData { error, snapshot in
      if error == nil, snapshot?.exists() == false {
        before.setValue(ServerValue.timestamp(), withCompletionBlock: nil)
      }
    }
  }

  /// Drops the marks of posts that count as read without them.
  private func prune(_ state: ReadState) {
    guard !hasWritten, state.marks.count > Self.limit else { return }
    hasWritten = true
    var gone: [String: Any] = [:]
    for (post, mark) in state.marks where mark != .unread {
      guard let time = PushID.time(of: post), time <= state.before else { continue }
      if let slot = slots.removeValue(forKey: post) { gone["marks/\(slot)"] = NSNull() }
      if old.remove(post) != nil { gone["posts/\(post)"] = NSNull() }
    }
    if !gone.isEmpty { place.updateChildValues(gone, withCompletionBlock: nil) }
  }
}

/// A change of what the user has read.
package enum ReadChange: Hashable, Sendable, Codable {
  /// A post was read, or is to be read again.
  case post(PostID, ReadState.Mark)
  /// Everything written so far is read.
  case allRead
  /// These marks are as they were before, nil if there was none, and so is the time, if it is given.
  case restore(before: Int64?, marks: [PostID: ReadState.Mark?])
  /// How many stars by others the user has seen, on posts of the user's.
  case stars([PostID: Int])
  /// The user does not want to see the notices up to a key any more.
  case clearNotices(upTo: String)

  /// What a refusal means, as a sentence without a period; nil for what nobody has asked for.
  package var refusal: String? {
    switch self {
    case .post(_, .unread): "Not marked as unread"
    case .post(_, .read), .allRead: "Not marked as read"
    case .restore: "Not undone"
    case .clearNotices: "The notices were not cleared"
    case .stars: nil
    }
  }
}

/// What a person has read, on any terminal.
package struct ReadState: Hashable, Sendable, Codable {
  package enum Mark: Hashable, Sendable, Codable {
    /// The post was read, with its comments up to that key; the key is empty if there were none.
    case read(lastComment: String)
    case unread

    /// The post was read with all comments up to a time, whatever their keys.
    ///
    /// Keys of comments begin with their time, so the characters of the time alone sort between
    /// them.
    package static func read(until time: Int64) -> Mark {
      .read(lastComment: PushID.timePart(time))
    }
  }

  /// Posts and comments created up to this time count as read, in milliseconds since 1970.
  package var before: Int64
  package var marks: [PostID: Mark]
  /// How many stars by others the user has seen, by post; a post is missing if that was never
  /// recorded.
  package var stars: [PostID: Int]?

  package init(before: Int64, marks: [PostID: Mark] = [:], stars: [PostID: Int]? = nil) {
    self.before = before
    self.marks = marks
    self.stars = stars
  }

  /// Whether a notice is unread.
  ///
  /// A comment counts as read when the post was read with all comments up to it, on any terminal
  /// and from any list; stars count as read when that many were recorded.
  package func isUnread(_ notice: NoticeEntry) -> Bool {
    if notice.kind == .stars { return notice.stars > knownStars(of: notice) }
    switch marks[notice.post] {
    case .unread: return true
    case .read(let last):
      guard let comment = notice.comment else { return false }
      return last.utf16.lexicographicallyPrecedes(comment.utf16)
    case nil: return (notice.at ?? 0) > before
    }
  }

  /// How many stars by others were seen; those of old posts count as seen until a number is
  /// recorded.
  private func knownStars(of notice: NoticeEntry) -> Int {
    if let count = stars?[notice.post] { return count }
    return isOld(notice) ? notice.stars : 0
  }

  /// How many stars of an old post to record, so that later ones are new; nil if recorded already.
  package func starsToNote(of notice: NoticeEntry) -> Int? {
    notice.kind == .stars && stars?[notice.post] == nil && isOld(notice) ? notice.stars : nil
  }

  private func isOld(_ notice: NoticeEntry) -> Bool {
    (PushID.time(of: notice.post) ?? 0) <= before
  }

  /// Whether a post is unread for a user who is not its author.
  package func isUnread(_ post: Post) -> Bool {
    switch marks[post.id] {
    case .read: false
    case .unread: true
    case nil: (post.createdAt ?? 0) > before
    }
  }

  /// How many of the given comments by others are unread, on a post whose text was read.
  package func newComments(
    among comments: [Comment],
    on post: PostID,
    for uid: String
  ) -> NewComments {
    let count: Int
    switch marks[post] {
    case .unread: count = 0
    case .read(let last):
      count = comments.count {
        $0.uid != uid && last.utf16.lexicographicallyPrecedes($0.id.utf16)
      }
    case nil: count = comments.count { $0.uid != uid && ($0.createdAt ?? 0) > before }
    }
    return NewComments(count: count)
  }

  /// The key of the last comment that was read; nil if the mark names none.
  package func lastComment(on post: PostID) -> String? {
    guard case .read(let comment)? = marks[post], !comment.isEmpty else { return nil }
    return comment
  }
}
