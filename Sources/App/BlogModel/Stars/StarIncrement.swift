private import Foundation
private import NIOConcurrencyHelpers
private import RealtimeCore
private import RealtimeDatabase

/// Stars or unstars a post and its author's copy with one update.
///
/// The update is sent without reading the post first. It therefore shows at once, offline as well,
/// and updates keep their order. Rules refuse it if the star already has the wanted state, for
/// example because another terminal of the same user was faster or an answer was lost. The data is
/// then read, and only the missing part is sent again.
struct StarIncrement: Sendable {
  let paths: BlogPaths
  let uid: String
  let intents: StarIntents
  /// How often an update that may have collided with the user's other terminals is sent.
  let rounds: Int

  /// Sends the update.
  ///
  /// - Parameters:
  ///   - isStarred: Whether the user stars it.
  ///   - id: The key of the post.
  ///   - owner: The author of the post; if nil, it is looked up first.
  ///   - completion: Called when both copies agree, or with the error.
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

  /// Sends the update unless the star already has the wanted state, and waits for the server.
  ///
  /// - Throws: `BlogError.notFound` when there is no such post, or the database's error.
  func set(_ isStarred: Bool, on id: PostID) async throws {
    guard let post = Post(try await paths.post(id).getData()) else { throw BlogError.notFound(id) }
    if post.stars.contains(uid) == isStarred { return }
    try await finished { start(isStarred, on: id, owner: post.uid, completion: $0) }
  }

  /// The wanted state of the star on a post.
  private struct Intent {
    let isStarred: Bool
    /// Identifies the intent on this terminal.
    let number: Int
    let post: PostID
    /// The author of the post.
    let owner: String
  }

  /// The copies of a post in which the star does not have the wanted state.
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
    // The owner may be anything another client has written; without a legal key there is no copy.
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
      guard (error as? DatabaseError)?.kind == .permissionDenied else { return completion(error) }
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
    // The latest intent decides, and its update is already under way.
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

/// The latest pending intent for each post.
final class StarIntents: Sendable {
  private struct Numbers {
    var next = 0
    var last: [PostID: Int] = [:]
  }

  private let numbers = NIOLockedValueBox(Numbers())

  /// Notes an intent and returns its number.
  func begin(_ post: PostID) -> Int {
    numbers.withLockedValue { numbers in
      numbers.next += 1
      numbers.last[post] = numbers.next
      return numbers.next
    }
  }

  /// Whether this is the latest intent for the post.
  func isLast(_ number: Int, of post: PostID) -> Bool {
    numbers.withLockedValue { $0.last[post] == number }
  }

  /// Forgets an intent that has been completed.
  func end(_ number: Int, of post: PostID) {
    numbers.withLockedValue { numbers in
      if numbers.last[post] == number { numbers.last[post] = nil }
    }
  }
}
