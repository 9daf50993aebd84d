internal import RealtimeCore

/// The names under which a blog keeps things.
extension ChildKey {
  static let posts: ChildKey = "posts"
  static let userPosts: ChildKey = "user-posts"
  static let postComments: ChildKey = "post-comments"
  static let uid: ChildKey = "uid"
  static let author: ChildKey = "author"
  static let title: ChildKey = "title"
  static let body: ChildKey = "body"
  static let commentText: ChildKey = "text"
  static let stars: ChildKey = "stars"
  static let starCount: ChildKey = "starCount"
}
