import BlogModel

/// What a list shows of a post: rows that are equal look the same in a list that looks the same.
struct PostRow: Equatable {
  let id: PostID
  let title: String
  let body: String
  let author: String
  let starCount: Int
  /// Whether I gave it a star.
  let isStarred: Bool
  let isSelected: Bool
  /// When it was written, as the user wants to see it.
  let age: SafeText
  /// How far my last change of it has got.
  let delivery: Delivery?
  /// How many comments on it are to be read.
  let newComments: NewComments
  /// Whether it, or a comment on it, is to be read.
  let hasNews: Bool
}
