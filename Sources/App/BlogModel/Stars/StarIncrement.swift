private import Foundation
private import RealtimeCore
private import RealtimeDatabase
private import Synchronization

/// Stars or unstars a post and its author's copy with one update.
///
/// The update is sent without reading the post first, so that it shows at once, also offline, and
/// updates keep their order. Rules refuse it if the star is already as wanted, for example because
/// another terminal of the same user was faster or an answer was lost. Then the data are read, and
/// only what is missing is sent again.
struct StarIncrement: Sendable {
  let paths: BlogPaths
  let uid: String
  let intents: StarIntents
  /// How often an update is sent that may have collided with other terminals of the same user.
  let rounds: Int

  /// Sends the update.
  ///
  /// - Parameters:
  ///   - isStarred: Whether I star it.
  ///   - id: The key of the post.
  ///   - owner: Whose post it is; without one that is looked up first.
  ///   - completion: Called when both places agree, or with what went wrong.
  func start(
    _ isStarred: Bool,
    on id: PostID,
    owner: String?,
    completion: @escaping BlogCompletion
  ) {
    let number = intents.begin(id)
    let done: BlogCompletion = { [intents] error in
      intents.end(number, of: id)
      completion(error)
    }
    let write: @Sendable (_ owner: String) -> Void = { owner in
      let intent = Intent(isStarred: isStarred, number: number, post: id, owner: owner)
      self.write(intent, to: .both, round: 1, completion: done)
    }
    if let owner { return write(owner) }
    paths.post(id).getData { error, snapshot in
      if let error { return done(error) }
      guard let post = snapshot.flatMap(Post.init) else { return done(BlogError.notFound(id)) }
      write(post.uid)
    }
  }

  /// Sends the update unless the star is already as wanted, and waits for the server.
  ///
  /// - Throws: `BlogError.notFound` when there is no such post, or the database's reason.
  func set(_ isStarred: Bool, on id: PostID) async throws {
    guard let post = Post(try await paths.post(id).getData()) else { throw BlogError.notFound(id) }
    if post.stars.contains(uid) == isStarred { return }
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      start(isStarred, on: id, owner: post.uid) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  /// What is wanted of which post.
  private struct Intent {
    let isStarred: Bool
    /// Which intent of this terminal it is.
    let number: Int
    let post: PostID
    /// Whose post it is.
    let owner: String
  }

  /// The copies of a post in which the star is not as wanted.
  private struct Copies: OptionSet {
    let rawValue: Int
    static let post = Copies(rawValue: 1)
    static let copy = Copies(rawValue: 2)
    static let both: Copies = [.post, .copy]
  }

  private func write(
    _ intent: Intent,
    to copies: Copies,
    round: Int,
    completion: @escaping BlogCompletion
  ) {
    // The owner is whatever others have written; a post of nobody has no copy.
    guard Validation.problem(withKey: intent.owner) == nil else {
      return completion(BlogError.notFound(intent.post))
    }
    var values: [String: Any] = [:]
    for (copy, path) in [
      (Copies.post, "posts/\(intent.post)"),
      (.copy, "user-posts/\(intent.owner)/\(intent.post)"),
    ] where copies.contains(copy) {
      values["\(path)/stars/\(uid)"] = intent.isStarred ? true : NSNull()
      values["\(path)/starCount"] = ServerValue.increment(intent.isStarred ? 1 : -1)
    }
    paths.root.updateChildValues(values) { error, _ in
      guard let error else { return completion(nil) }
      guard (error as? DatabaseError)?.code == .permissionDenied else { return completion(error) }
      resolve(intent, refusal: error, round: round, completion: completion)
    }
  }

  /// Reads the post after a refusal and sends what is missing.
  private func resolve(
    _ intent: Intent,
    refusal: any Error,
    round: Int,
    completion: @escaping BlogCompletion
  ) {
    // What was wanted last decides, and is on its way.
    guard intents.isLast(intent.number, of: intent.post) else { return completion(nil) }
    paths.post(intent.post).getData { error, snapshot in
      if error != nil { return completion(refusal) }
      guard let post = snapshot.flatMap(Post.init) else {
        return completion(BlogError.notFound(intent.post))
      }
      paths.posts(of: intent.owner).child(of: ChildKey(intent.post)).getData { error, snapshot in
        if error != nil { return completion(refusal) }
        let copy = snapshot.flatMap(Post.init)
        var missing: Copies = []
        if post.stars.contains(uid) != intent.isStarred { missing.insert(.post) }
        if let copy, copy.stars.contains(uid) != intent.isStarred { missing.insert(.copy) }
        if missing.isEmpty { return completion(nil) }
        guard round < rounds, intents.isLast(intent.number, of: intent.post) else {
          return completion(refusal)
        }
        write(intent, to: missing, round: round + 1, completion: completion)
      }
    }
  }
}

/// Which intent of each post is the last one, while it is under way.
final class StarIntents: Sendable {
  private struct Numbers {
    var next = 0
    var last: [PostID: Int] = [:]
  }

  private let numbers = Mutex(Numbers())

  /// Notes an intent and returns its number.
  func begin(_ post: PostID) -> Int {
    numbers.withLock { numbers in
      numbers.next += 1
      numbers.last[post] = numbers.next
      return numbers.next
    }
  }

  /// Whether no other intent for the post came later.
  func isLast(_ number: Int, of post: PostID) -> Bool {
    numbers.withLock { $0.last[post] == number }
  }

  /// Forgets an intent that is settled.
  func end(_ number: Int, of post: PostID) {
    numbers.withLock { numbers in
      if numbers.last[post] == number { numbers.last[post] = nil }
    }
  }
}
