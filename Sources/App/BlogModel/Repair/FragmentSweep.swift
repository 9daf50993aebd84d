private import RealtimeCore
private import RealtimeDatabase

/// Removes the fragment that an edit creates if the post or comment was deleted before it arrived.
///
/// An edit writes single fields, in both copies at once, so that it touches no star. Security rules
/// refuse it where the post is gone; an administrator, as on the private socket, is refused nothing,
/// and the fields would stay alone. They are known by having no author, and go by a transaction, so
/// that nothing is lost which somebody else writes meanwhile.
struct FragmentSweep: Sendable {
  let paths: BlogPaths
  let uid: String

  /// How many fragments one look for them finds.
  private static let limit: UInt = 100

  /// Looks at a post after it was edited.
  ///
  /// - Parameters:
  ///   - post: The post.
  ///   - completion: Told whether the post is there, when no fragment of it is left.
  func check(_ post: PostID, completion: @escaping @Sendable (Result<Bool, any Error>) -> Void) {
    let key = ChildKey(post)
    removeFragment(at: paths.post(post)) { [paths, uid] result in
      guard case .success(false) = result else { return completion(result) }
      removeFragment(at: paths.posts(of: uid).child(of: key)) { completion($0.map { _ in false }) }
    }
  }

  /// Looks at a comment after it was edited.
  func check(
    _ comment: String,
    on post: PostID,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    let place = paths.comments(on: post).child(of: ChildKey(comment))
    removeFragment(at: place, completion: completion)
  }

  /// Looks for fragments of posts of mine, as edits of an earlier run may have left them.
  func sweep(completion: @escaping @Sendable () -> Void = {}) {
    let fragments = paths.posts(of: uid).queryOrdered(byChild: "uid").queryEqual(toValue: nil)
    fragments.queryLimited(toFirst: Self.limit).getData { _, snapshot in
      sweep((snapshot?.childSnapshots ?? []).map(\.key)[...], completion: completion)
    }
  }

  private func sweep(_ posts: ArraySlice<PostID>, completion: @escaping @Sendable () -> Void) {
    guard let post = posts.first else { return completion() }
    check(post) { _ in sweep(posts.dropFirst(), completion: completion) }
  }

  /// Tells whether something whole is there; what is not whole is removed.
  private func removeFragment(
    at place: DatabaseReference,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    place.runTransactionBlock { data in
      // Nothing may only mean that nothing is known here: the server then asks again with the truth.
      guard data.hasChildren() else { return .success(withValue: data) }
      if data.childData(byAppendingPath: "uid").value is String { return .abort() }
      data.value = nil
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      completion(error.map { .failure($0) } ?? .success(!isCommitted))
    }
  }
}
