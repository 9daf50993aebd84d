/// Something that others did to what I wrote.
package enum Notice: Hashable, Sendable, Codable {
  /// Somebody commented on a post of mine.
  case comment(PostID, title: String, by: Author)
  /// A post of mine has more stars than before.
  case star(PostID, title: String, count: Int)

  /// The post that it is about.
  package var post: PostID {
    switch self {
    case .comment(let post, _, _), .star(let post, _, _): post
    }
  }
}
