private import Dispatch
private import Foundation
private import NIOConcurrencyHelpers
private import RealtimeCore
private import RealtimeDatabase

/// Stars or unstars a post and its author's copy with one transaction each.
///
/// Each transaction changes only the user's entry in `stars` and sets `starCount` to the size of
/// the map, so the count cannot drift, and running the transaction twice is harmless. The copy
/// follows the post: it is set to the post's state, and then the post is read again, because
/// another terminal of the same user may have changed it in between. The last writer of the copy
/// makes it agree.
struct StarToggle: Sendable {
  let paths: BlogPaths
  let uid: String

  /// How often a transaction that ran out of retries is started again.
  private static let rounds = 40
  /// The first delay in seconds before retrying an update of the copy; it grows by this much each
  /// time.
  private static let firstDelay = 0.25
  private static let longestDelay = 10.0

  /// Sends the update.
  ///
  /// The change of the post is queued before this returns, so that intents keep their order and the
  /// screen shows it at once. The completion is called when both copies agree, or as soon as there
  /// is an error; `settled` is called last, when no further attempt will be made, with the error if
  /// there was one.
  func start(
    _ isStarred: Bool,
    on id: PostID,
    settled: @escaping @Sendable ((any Error)?) -> Void,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    change(isStarred, at: paths.post(id), round: 1) { result in
      switch result {
      case .failure(let error):
        completion(error)
        settle(id) { settled(error) }
      case .success(nil):
        completion(BlogError.notFound(id))
        settled(BlogError.notFound(id))
      case .success(let post?):
        follow(id, owner: post.uid, isStarred: isStarred, round: 1) { error in
          completion(error)
          settled(error)
        }
      }
    }
  }

  /// Carries out an intent and waits until no further attempt will be made.
  ///
  /// - Throws: `BlogError.notFound` when there is no such post, or the database's error.
  func set(_ isStarred: Bool, on id: PostID) async throws {
    try await finished { start(isStarred, on: id, settled: $0, completion: { _ in }) }
  }

  /// Makes the author's copy agree with the post about the user's star, after an intent was
  /// refused.
  ///
  /// The post may have the star nevertheless: an earlier attempt may have reached it, and its
  /// answer was lost when the connection or the program ended.
  private func settle(_ id: PostID, completion: @escaping @Sendable () -> Void) {
    paths.post(id).getData { error, snapshot in
      guard error == nil, let post = snapshot.flatMap(Post.init),
        Validation.problem(withKey: post.uid) == nil
      else {
        return completion()
      }
      let isStarred = post.stars.contains(uid)
      copy(id, of: post.uid).getData { error, snapshot in
        guard error == nil, let copy = snapshot.flatMap(Post.init),
          copy.stars.contains(uid) != isStarred
        else {
          return completion()
        }
        follow(id, owner: post.uid, isStarred: isStarred, round: 1) { _ in completion() }
      }
    }
  }

  /// Sets the user's star on the author's copy to its state on the post.
  private func follow(
    _ id: PostID,
    owner: String,
    isStarred: Bool,
    round: Int,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    // The owner may be anything another client has written; without a legal key there is no copy.
    guard Validation.problem(withKey: owner) == nil else { return completion(nil) }
    guard round <= Self.rounds else { return completion(BlogError.conflict(id)) }
    let again: @Sendable (any Error) -> Void = { error in
      guard Self.isTransient(error) else { return completion(error) }
      let delay = min(Self.longestDelay, Self.firstDelay * Double(round))
      DispatchQueue(label: "hearth.star").asyncAfter(deadline: .now() + delay) {
        follow(id, owner: owner, isStarred: isStarred, round: round + 1, completion: completion)
      }
    }
    change(isStarred, at: copy(id, of: owner), round: 1) { result in
      if case .failure(let error) = result { return again(error) }
      paths.post(id).child("stars").child(uid).getData { error, snapshot in
        if let error { return again(error) }
        let truth = snapshot?.value as? Bool ?? false
        if truth == isStarred { return completion(nil) }
        follow(id, owner: owner, isStarred: truth, round: round + 1, completion: completion)
      }
    }
  }

  /// Whether a retry may succeed without anyone intervening.
  ///
  /// The post has the star by then: giving up would leave the copy behind until the next start.
  private static func isTransient(_ error: any Error) -> Bool {
    guard let code = (error as? DatabaseError)?.kind else { return false }
    return [.unavailable, .disconnected, .timedOut].contains(code)
  }

  private func copy(_ id: PostID, of owner: String) -> DatabaseReference {
    paths.posts(of: owner).child(of: ChildKey(id))
  }

  /// Changes the user's star at one location, starting again when a transaction ran out of retries.
  private func change(
    _ isStarred: Bool,
    at place: DatabaseReference,
    round: Int,
    completion: @escaping @Sendable (Result<Post?, any Error>) -> Void
  ) {
    place.runTransactionBlock { [uid] data in
      guard data.hasChildren() else { return .success(withValue: data) }
      let stars = data.childData(byAppendingPath: "stars")
      stars.childData(byAppendingPath: uid).value = isStarred ? true : nil
      data.childData(byAppendingPath: "starCount").value = Int(stars.childrenCount)
      return .success(withValue: data)
    } andCompletionBlock: { error, _, snapshot in
      let code = (error as? DatabaseError)?.kind
      if code == .maximumRetries || code == .overriddenBySet, round < Self.rounds {
        change(isStarred, at: place, round: round + 1, completion: completion)
      } else if let error {
        completion(.failure(error))
      } else {
        completion(.success(snapshot.flatMap(Post.init)))
      }
    }
  }
}

/// How stars are written to the database.
package enum StarMethod: String, Sendable, CaseIterable {
  /// A transaction on the post and another on its copy, for servers with other rules.
  ///
  /// The counts are exact without any rules. Whole posts are written, however, so the rules must
  /// allow everyone to do that. If the program is killed between the two transactions, `hearth
  /// fsck` finds the copy.
  case transaction
  /// One update of both copies, in which the server increments the counts.
  ///
  /// It needs rules that let star and count change only together; with them, a star that is sent
  /// twice counts once. No one needs permission to write another person's whole post.
  case increment
  /// The same at a server's private socket, with more retries.
  ///
  /// The rules there are only about stars, so a refusal means that another terminal of the same
  /// user was faster, and the update is sent again.
  case localIncrement
}

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

  /// Sends the update, after looking up the author of the post if that is not known.
  ///
  /// The completion is called when both copies agree, or with the error.
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
      let both = [intent.postPath, intent.copyPath]
      self.write(intent, to: both, round: 1, completion: done)
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
    let owner: String

    var postPath: String { "posts/\(post)" }
    var copyPath: String { "user-posts/\(owner)/\(post)" }
  }

  /// Writes the star at some paths, those of the post and its copy or one of them.
  private func write(
    _ intent: Intent,
    to places: [String],
    round: Int,
    completion: @escaping BlogCompletion
  ) {
    // The owner may be anything another client has written; without a legal key there is no copy.
    guard Validation.problem(withKey: intent.owner) == nil else {
      return completion(BlogError.notFound(intent.post))
    }
    var values: [String: Any] = [:]
    for path in places {
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
        var missing: [String] = []
        if post.stars.contains(uid) != intent.isStarred { missing.append(intent.postPath) }
        if let copy, copy.stars.contains(uid) != intent.isStarred {
          missing.append(intent.copyPath)
        }
        if missing.isEmpty || !intents.isLast(intent.number, of: intent.post) {
          return completion(nil)
        }
        guard round < rounds else { return completion(refusal) }
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
