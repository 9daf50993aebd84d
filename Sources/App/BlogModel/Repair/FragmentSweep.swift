private import RealtimeCore
private import RealtimeDatabase

/// Removes the fragment that an edit creates if the post or comment was deleted before it arrived.
///
/// An edit writes single fields, in both copies at once, so that it does not touch the stars.
/// Security rules refuse the edit if the post is gone. An administrator, as on the private socket,
/// is refused nothing, so the edited fields would remain on their own. Such a fragment has no
/// author. It is removed in a transaction, so that no concurrent write is lost.
struct FragmentSweep: Sendable {
  let paths: BlogPaths
  let uid: String

  /// How many fragments one sweep handles.
  private static let limit: UInt = 100

  /// Checks a post after an edit.
  ///
  /// - Parameters:
  ///   - post: The post.
  ///   - completion: Called with whether the post exists, once no fragment of it is left.
  func check(_ post: PostID, completion: @escaping @Sendable (Result<Bool, any Error>) -> Void) {
    let key = ChildKey(post)
    removeFragment(at: paths.post(post)) { [paths, uid] result in
      guard case .success(false) = result else { return completion(result) }
      removeFragment(at: paths.posts(of: uid).child(of: key)) { completion($0.map { _ in false }) }
    }
  }

  /// Checks a comment after an edit.
  func check(
    _ comment: String,
    on post: PostID,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    let place = paths.comments(on: post).child(of: ChildKey(comment))
    removeFragment(at: place, completion: completion)
  }

  /// Removes the fragments of the user's posts that edits from an earlier run may have left.
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

  /// Removes a fragment, and reports whether a complete post or comment is there.
  private func removeFragment(
    at place: DatabaseReference,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    place.runTransactionBlock { data in
      // The data may be missing only locally; the server then runs the transaction with its own
      // data.
      guard data.hasChildren() else { return .success(withValue: data) }
      if data.childData(byAppendingPath: "uid").value is String { return .abort() }
      data.value = nil
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      completion(error.map { .failure($0) } ?? .success(!isCommitted))
    }
  }
}
