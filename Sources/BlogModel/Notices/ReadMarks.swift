private import Foundation
internal import RealtimeDatabase
private import RealtimeTree

// Safety: everything is touched only on the callback queue of the database.
/// What I have read, kept in the database so that all my terminals agree.
final class ReadMarks: @unchecked Sendable {
  /// How many marks are kept before those are dropped that say nothing any more.
  static let limit = 1_000

  private let place: DatabaseReference
  private let tell: @Sendable (BlogEvent) -> Void
  /// Whether this program has begun or tidied the marks; once is enough.
  private var hasWritten = false

  init(_ place: DatabaseReference, tell: @escaping @Sendable (BlogEvent) -> Void) {
    self.place = place
    self.tell = tell
  }

  func start() {
    place.observe(.value) { [weak self] snapshot in self?.take(snapshot) }
  }

  func mark(_ post: PostID, _ mark: ReadState.Mark) {
    let entry = place.child("posts").child(of: ChildKey(post))
    switch mark {
    case .read(let comment): entry.setValue(comment, withCompletionBlock: answered)
    case .unread: entry.setValue(false, withCompletionBlock: answered)
    }
  }

  func markAllRead() {
    let change: [String: Any] = ["before": ServerValue.timestamp(), "posts": NSNull()]
    place.updateChildValues(change, withCompletionBlock: answered)
  }

  /// Says that a mark was answered, after all that the answer has changed.
  private var answered: @Sendable ((any Error)?, DatabaseReference) -> Void {
    { [tell] _, _ in tell(.markAnswered) }
  }

  private func take(_ snapshot: DataSnapshot) {
    guard let before = snapshot.time("before") else { return begin() }
    var state = ReadState(before: before)
    for child in snapshot.childSnapshot(forPath: "posts").childSnapshots {
      if let comment = child.value as? String {
        state.marks[child.key] = .read(lastComment: comment)
      } else if child.value as? Bool == false {
        state.marks[child.key] = .unread
      }
    }
    tell(.readState(state))
    prune(state)
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
      if let time = PushID.time(of: post), time <= state.before { gone[post] = NSNull() }
    }
    if !gone.isEmpty { place.child("posts").updateChildValues(gone) }
  }
}
