private import Foundation
private import RealtimeCore
internal import RealtimeDatabase

// Safety: everything is touched only on the callback queue of the database.
/// What I have read, kept in the database so that all my terminals agree.
final class ReadMarks: @unchecked Sendable {
  /// How many marks there can be; rules cannot count, but they can bound the keys.
  private static let slotCount = 1_000
  /// How many marks are kept before those are dropped that say nothing any more.
  private static let limit = 900

  private let place: DatabaseReference
  private let tell: @Sendable (BlogEvent) -> Void
  /// Whether this program has begun or tidied the marks; once is enough.
  private var hasWritten = false
  /// The keys under which the marks of posts are kept.
  private var slots: [PostID: String] = [:]
  /// The posts whose marks are kept under their own keys, as earlier versions did.
  private var old: Set<PostID> = []

  init(_ place: DatabaseReference, tell: @escaping @Sendable (BlogEvent) -> Void) {
    self.place = place
    self.tell = tell
  }

  func start() {
    place.observe(.value) { [weak self] snapshot in self?.take(snapshot) }
  }

  func mark(_ post: PostID, _ mark: ReadState.Mark) {
    let slot = slot(for: post)
    slots[post] = slot
    let read: Any =
      switch mark {
      case .read(let comment): comment
      case .unread: false
      }
    var change: [String: Any] = ["marks/\(slot)": ["post": post, "read": read]]
    if old.remove(post) != nil { change["posts/\(post)"] = NSNull() }
    place.updateChildValues(change, withCompletionBlock: answered)
  }

  func markAllRead() {
    let change: [String: Any] = [
      "before": ServerValue.timestamp(), "marks": NSNull(), "posts": NSNull(),
    ]
    place.updateChildValues(change, withCompletionBlock: answered)
  }

  /// The key under which the mark of a post is kept: its own, a free one, or that of the oldest post.
  ///
  /// The search begins where the name of the post says, so that two terminals of mine that mark two
  /// posts at once hardly ever take the same one.
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

  /// Says that a mark was answered, after all that the answer has changed.
  private var answered: @Sendable ((any Error)?, DatabaseReference) -> Void {
    { [tell] _, _ in tell(.markAnswered) }
  }

  private func take(_ snapshot: DataSnapshot) {
    guard let before = snapshot.time("before") else { return begin() }
    var state = ReadState(before: before)
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
    tell(.readState(state))
    prune(state)
  }

  private static func mark(_ value: Any?) -> ReadState.Mark? {
    if let comment = value as? String { return .read(lastComment: comment) }
    return value as? Bool == false ? .unread : nil
  }

  /// Who comes for the first time has not missed everything that was ever written.
  ///
  /// What is known here may be old, so the server is asked before anything counts as read.
  private func begin() {
    guard !hasWritten else { return }
    hasWritten = true
    let before = place.child("before")
    before.getData { error, snapshot in
      if error == nil, snapshot?.exists() == false { before.setValue(ServerValue.timestamp()) }
    }
  }

  /// Drops marks of posts that count as read without them.
  private func prune(_ state: ReadState) {
    guard !hasWritten, state.marks.count > Self.limit else { return }
    hasWritten = true
    var gone: [String: Any] = [:]
    for (post, mark) in state.marks where mark != .unread {
      guard let time = PushID.time(of: post), time <= state.before else { continue }
      if let slot = slots.removeValue(forKey: post) { gone["marks/\(slot)"] = NSNull() }
      if old.remove(post) != nil { gone["posts/\(post)"] = NSNull() }
    }
    if !gone.isEmpty { place.updateChildValues(gone) }
  }
}
