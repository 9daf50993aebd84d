private import Dispatch
private import RealtimeCore
private import RealtimeDatabase

/// What a screen does to the blog.
extension LiveBlog {
  package func post(title: String, body: String) -> PostID {
    let id = blog.paths.posts.childByAutoId().key ?? ""
    blog.write(
      post: id,
      title: title,
      body: body,
      completion: report(.post(id, title: title, body: body))
    )
    return id
  }

  package func comment(on post: PostID, text: String) -> String {
    let id = blog.paths.comments(on: post).childByAutoId().key ?? ""
    blog.write(
      comment: id,
      on: post,
      text: text,
      completion: report(.comment(post, commentID: id, text: text))
    )
    return id
  }

  package func setStar(_ post: PostID, _ isStarred: Bool) {
    let completion = report(.star(post, isStarred))
    queue.async { [self] in
      blog.star(isStarred, on: post, owner: owner(of: post), completion: completion)
    }
  }

  package func edit(_ post: PostID, title: String, body: String) {
    let completion = report(.edit(post, title: title, body: body))
    blog.rewrite(post: post, title: title, body: body, completion: completion)
  }

  package func editComment(_ comment: String, on post: PostID, text: String) {
    let completion = report(.editComment(post, commentID: comment, text: text))
    blog.rewrite(comment: comment, on: post, text: text, completion: completion)
  }

  package func deletePost(_ post: PostID) {
    blog.remove(post: post, completion: report(.deletePost(post)))
  }

  package func deleteComment(_ comment: String, on post: PostID) {
    let action = BlogAction.deleteComment(post, commentID: comment)
    let completion = report(action)
    blog.paths.comments(on: post).child(of: ChildKey(comment)).removeValue { error, _ in
      completion(error)
    }
  }

  package func mark(_ post: PostID, _ mark: ReadState.Mark) {
    queue.async { [self] in marks?.mark(post, mark) }
  }

  package func markAllRead() {
    queue.async { [self] in marks?.markAllRead() }
  }

  package func setTyping(_ isTyping: Bool, on post: PostID) {
    queue.async { [self] in people?.setTyping(isTyping, on: post) }
  }

  package func watchComments(on posts: [PostID]) {
    queue.async { [self] in latest?.watch(posts) }
  }

  package func setNotices(_ areTold: Bool) {
    queue.async { [self] in areTold ? notices?.start() : notices?.stop() }
  }
}
