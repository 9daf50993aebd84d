private import BlogChecker
package import BlogModel
private import Foundation
private import RealtimeCore
private import RealtimeDatabase

/// Gives and takes stars by one of the strategies.
package struct SwarmStars: Sendable {
  /// What is called when the server has answered.
  package typealias Completion = Blog.Completion

  private let blog: Blog
  private let strategy: StarStrategy

  /// Makes the stars of one person.
  package init(_ blog: Blog, _ strategy: StarStrategy) {
    self.blog = blog
    self.strategy = strategy
  }

  /// Gives or takes a star.
  ///
  /// - Parameters:
  ///   - isStarred: Whether the post is to be starred.
  ///   - post: The post as the person sees it.
  ///   - settled: Called last, when nothing more will be done, with what went wrong.
  ///   - completion: Called when both places are written, or at once with what went wrong.
  package func set(
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
    case .sample: toggleBoth(post, both)
    case .naive: setValues(isStarred, post, both)
    }
  }

  private func copy(_ post: Post) -> DatabaseReference {
    blog.paths.posts(of: post.uid).child(of: ChildKey(post.id))
  }

  /// Turns the star over at the post, finds out whose it is, and turns it over at the copy as well.
  ///
  /// Nothing ties the two together: each goes by what it finds at its own place.
  private func toggleBoth(_ post: Post, _ completion: @escaping Completion) {
    let copy = copy(post)
    Self.toggle(blog.paths.post(post.id), blog.me.uid) { error in
      if let error { return completion(error) }
      Self.toggle(copy, blog.me.uid, completion)
    }
  }

  private static func toggle(
    _ place: DatabaseReference,
    _ uid: String,
    _ completion: @escaping Completion
  ) {
    place.runTransactionBlock { data in
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

  /// Writes the count that was seen plus one, whatever it has become meanwhile.
  private func setValues(_ isStarred: Bool, _ post: Post, _ completion: @escaping Completion) {
    let count = post.starCount + (isStarred ? 1 : -1)
    let uid = blog.me.uid
    let copy = copy(post)
    let set: @Sendable (DatabaseReference, @escaping Completion) -> Void = { place, completion in
      let star: Any = isStarred ? true : NSNull()
      let values: [String: Any] = ["stars/\(uid)": star, "starCount": count]
      place.updateChildValues(values) { error, _ in completion(error) }
    }
    set(blog.paths.post(post.id)) { error in
      if let error { return completion(error) }
      set(copy, completion)
    }
  }
}
