private import Foundation
private import RealtimeCore
private import RealtimeDatabase
private import Synchronization

/// Stars or unstars a post in both places where it is kept, with one update.
///
/// The update is sent without a look at what is there, so that intents keep their order and show at
/// once, offline as well. Rules refuse it where the star is already as wanted, as after another
/// terminal of mine or an answer that was lost: then the data decide what is still to be done.
struct StarIncrement: Sendable {
  let paths: BlogPaths
  let uid: String
  let intents: StarIntents
  /// How often an update is sent again that other terminals of mine may have overtaken.
  let rounds: Int

  /// Carries an intent out.
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
    completion: @escaping Blog.Completion
  ) {
    let number = intents.begin(id)
    let done: Blog.Completion = { [intents] error in
      intents.end(number, id)
      completion(error)
    }
    if let owner {
      write(isStarred, number, Place(id: id, owner: owner), .both, round: 1, completion: done)
      return
    }
    paths.post(id).getData { error, snapshot in
      if let error { return done(error) }
      guard let post = snapshot.flatMap(Post.init) else { return done(BlogError.notFound(id)) }
      let place = Place(id: id, owner: post.uid)
      write(isStarred, number, place, .both, round: 1, completion: done)
    }
  }

  /// Carries an intent out, unless the post says already what is wanted.
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

  /// A post and whose it is.
  private struct Place {
    let id: PostID
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
    _ isStarred: Bool,
    _ number: Int,
    _ place: Place,
    _ copies: Copies,
    round: Int,
    completion: @escaping Blog.Completion
  ) {
    // The owner is whatever others have written; a post of nobody has no copy.
    guard Validation.problem(withKey: place.owner) == nil else {
      return completion(BlogError.notFound(place.id))
    }
    var values: [String: Any] = [:]
    for (copy, path) in [
      (Copies.post, "posts/\(place.id)"), (.copy, "user-posts/\(place.owner)/\(place.id)"),
    ] where copies.contains(copy) {
      values["\(path)/stars/\(uid)"] = isStarred ? true : NSNull()
      values["\(path)/starCount"] = ServerValue.increment(isStarred ? 1 : -1)
    }
    paths.root.updateChildValues(values) { error, _ in
      guard let error else { return completion(nil) }
      guard (error as? DatabaseError)?.code == .permissionDenied else { return completion(error) }
      resolve(isStarred, number, place, refusal: error, round: round, completion: completion)
    }
  }

  /// Finds out what is there after a refusal, and does what is missing.
  private func resolve(
    _ isStarred: Bool,
    _ number: Int,
    _ place: Place,
    refusal: any Error,
    round: Int,
    completion: @escaping Blog.Completion
  ) {
    // What was wanted last decides, and is on its way.
    guard intents.isLast(number, place.id) else { return completion(nil) }
    paths.post(place.id).getData { error, snapshot in
      if error != nil { return completion(refusal) }
      guard let post = snapshot.flatMap(Post.init) else {
        return completion(BlogError.notFound(place.id))
      }
      paths.posts(of: place.owner).child(of: ChildKey(place.id)).getData { error, snapshot in
        if error != nil { return completion(refusal) }
        let copy = snapshot.flatMap(Post.init)
        var missing: Copies = []
        if post.stars.contains(uid) != isStarred { missing.insert(.post) }
        if let copy, copy.stars.contains(uid) != isStarred { missing.insert(.copy) }
        if missing.isEmpty { return completion(nil) }
        guard round < rounds, intents.isLast(number, place.id) else {
          return completion(refusal)
        }
        write(isStarred, number, place, missing, round: round + 1, completion: completion)
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
  func isLast(_ number: Int, _ post: PostID) -> Bool {
    numbers.withLock { $0.last[post] == number }
  }

  /// Forgets an intent that is settled.
  func end(_ number: Int, _ post: PostID) {
    numbers.withLock { numbers in
      if numbers.last[post] == number { numbers.last[post] = nil }
    }
  }
}
