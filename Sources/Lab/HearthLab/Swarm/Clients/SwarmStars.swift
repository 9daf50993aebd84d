import BlogModel
private import Foundation
private import RealtimeCore
private import RealtimeDatabase

/// Adds and removes stars by one of the strategies.
struct SwarmStars: Sendable {
  /// Called when the server has answered.
  typealias Completion = BlogCompletion

  private let blog: Blog
  private let strategy: StarStrategy

  init(in blog: Blog, by strategy: StarStrategy) {
    self.blog = blog
    self.strategy = strategy
  }

  /// Adds or removes a star.
  ///
  /// - Parameters:
  ///   - isStarred: Whether the post is to have the user's star.
  ///   - post: The post as the user sees it.
  ///   - settled: Called last, when nothing more will be done, with the error if there was one.
  ///   - completion: Called when both paths are written, or on the first error.
  func set(
    _ isStarred: Bool,
    on post: Post,
    settled: @escaping Completion,
    completion: @escaping Completion
  ) {
    let both: Completion = { error in
      completion(error)
      settled(error)
    }
    switch strategy {
    case .transaction, .increment:
      blog.star(
        isStarred,
        on: post.id,
        owner: post.uid,
        settled: settled,
        completion: completion
      )
    case .sample: toggleBoth(post, completion: both)
    case .naive: setValues(isStarred, on: post, completion: both)
    }
  }

  private func copy(_ post: Post) -> DatabaseReference {
    blog.paths.posts(of: post.uid).child(of: ChildKey(post.id))
  }

  /// Toggles the star on the post and then on the owner's copy of it.
  ///
  /// The two transactions are independent: each toggles what it finds at its own path.
  private func toggleBoth(_ post: Post, completion: @escaping Completion) {
    let copy = copy(post)
    Self.toggle(at: blog.paths.post(post.id), of: blog.me.uid) { error in
      if let error { return completion(error) }
      Self.toggle(at: copy, of: blog.me.uid, completion: completion)
    }
  }

  private static func toggle(
    at reference: DatabaseReference,
    of uid: String,
    completion: @escaping Completion
  ) {
    reference.runTransactionBlock { data in
      guard data.hasChildren() else { return .success(withValue: data) }
      let star = data.childData(byAppendingPath: "stars/\(uid)")
      let count = data.childData(byAppendingPath: "starCount")
      let isStarred = star.value as? Bool == true
      star.value = isStarred ? nil : true
      count.value = (count.value as? Int ?? 0) + (isStarred ? -1 : 1)
      return .success(withValue: data)
    } andCompletionBlock: { error, _, _ in
      completion(error)
    }
  }

  /// Writes the count that the user sees plus or minus one, even if the count has changed since.
  private func setValues(_ isStarred: Bool, on post: Post, completion: @escaping Completion) {
    let count = post.starCount + (isStarred ? 1 : -1)
    let uid = blog.me.uid
    let copy = copy(post)
    let set: @Sendable (DatabaseReference, @escaping Completion) -> Void = {
      reference,
      completion in
      let star: Any = isStarred ? true : NSNull()
      let values: [String: Any] = ["stars/\(uid)": star, "starCount": count]
      reference.updateChildValues(values) { error, _ in completion(error) }
    }
    set(blog.paths.post(post.id)) { error in
      if let error { return completion(error) }
      set(copy, completion)
    }
  }
}
