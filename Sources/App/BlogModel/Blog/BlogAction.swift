/// Something the user does to the blog: the one list of writes.
///
/// Keys, typed commands, `--plain`, scripts and the commands of the shell make these values, ``Blog``
/// performs them, and ``BlogEvent`` reports their outcome with them. All that is said about an
/// action stands here, once.
package enum BlogAction: Sendable, Hashable, Codable {
  /// Writing a post; the blog makes its key when it performs the action.
  case post(PostID? = nil, title: String, body: String)
  /// Writing a comment or a reply to one; the blog makes its key.
  case comment(PostID, commentID: String? = nil, text: String, answering: Comment? = nil)
  /// Starring (true) or unstarring (false) a post: an intent, harmless when repeated.
  case star(PostID, Bool)
  /// Changing one of the user's posts in both copies; what is nil stays as it is.
  case edit(PostID, title: String? = nil, body: String? = nil)
  /// Changing one of the user's comments; people it mentions for the first time are notified.
  case editComment(PostID, commentID: String, text: String)
  /// Deleting one of the user's posts with its comments.
  case deletePost(PostID)
  case deleteComment(PostID, commentID: String)
  /// Following (true) or unfollowing (false) a person.
  case follow(uid: String, Bool)
  /// Hiding (true) or showing all that a person writes, on the user's own screens.
  case mute(uid: String, Bool)
  /// Forbidding (true) or allowing a person to comment on the user's posts.
  case block(uid: String, Bool)
  /// Adding a post to the user's bookmarks (true), or removing it.
  case bookmark(PostID, Bool)
  /// Saving a search under a name, or removing it if there is no text.
  case saveSearch(slot: String, name: String, text: String?)
  /// Going by another name; what is written already keeps its author's name.
  case rename(String)
}

extension BlogAction {
  /// The commands of `--plain` that are a verb and a post.
  package static let verbs: [String: @Sendable (Post) -> BlogAction] = [
    "star": { .star($0.id, true) }, "unstar": { .star($0.id, false) },
    "follow": { .follow(uid: $0.uid, true) }, "unfollow": { .follow(uid: $0.uid, false) },
    "mute": { .mute(uid: $0.uid, true) }, "unmute": { .mute(uid: $0.uid, false) },
    "block": { .block(uid: $0.uid, true) }, "unblock": { .block(uid: $0.uid, false) },
    "bookmark": { .bookmark($0.id, true) }, "unbookmark": { .bookmark($0.id, false) },
    "delete": { .deletePost($0.id) },
  ]

  /// What is said about an action.
  private struct Facts {
    let name: String
    var post: PostID?
    var comment: String?
    /// The path that the action writes to first, unless it is that of the comment or the post.
    var place: String?
    var isDeletion = false
    /// What a refusal means, and the screens' action that tries again; nil if texts are restored.
    var refusal: (sentence: String, retry: String)?
  }

  private var facts: Facts {
    switch self {
    case .post(let post, let title, _):
      Facts(name: "the post \(title)", post: post)
    case .comment(let post, let comment, _, _):
      Facts(name: "the comment", post: post, comment: comment)
    case .star(let post, true):
      Facts(name: "the star", post: post, refusal: ("The star was not saved", "star"))
    case .star(let post, false):
      Facts(name: "removing the star", post: post, refusal: ("The star was not removed", "star"))
    case .edit(let post, let title, _):
      Facts(name: "the change of \(title ?? "the post")", post: post)
    case .editComment(let post, let comment, _):
      Facts(
        name: "the change of the comment",
        post: post,
        comment: comment,
        place: "/post-comments/\(post)/\(comment)/text"
      )
    case .deletePost(let post):
      Facts(
        name: "deleting the post",
        post: post,
        isDeletion: true,
        refusal: ("The post was not deleted", "delete")
      )
    case .deleteComment(let post, let comment):
      Facts(
        name: "deleting the comment",
        post: post,
        comment: comment,
        isDeletion: true,
        refusal: ("The comment was not deleted", "delete")
      )
    case .follow(let uid, let isFollowed):
      Facts(
        name: "following",
        place: "/following/\(uid)",
        refusal: ("The author is \(isFollowed ? "not" : "still") followed", "follow-author")
      )
    case .mute(let uid, let isMuted):
      Facts(
        name: "muting",
        place: "/muted/\(uid)",
        refusal: ("The author is \(isMuted ? "not" : "still") muted", "mute-author")
      )
    case .block(let uid, let isBlocked):
      Facts(
        name: "blocking",
        place: "/blocked/\(uid)",
        refusal: ("The author is \(isBlocked ? "not" : "still") blocked", "block-author")
      )
    case .saveSearch(let slot, let name, let text):
      Facts(
        name: "the search \(name)",
        place: "/searches/\(slot)",
        refusal: ("The search was not \(text == nil ? "removed" : "saved")", "saved-searches")
      )
    case .rename:
      Facts(name: "the name", place: "/users")
    case .bookmark(let post, let isMarked):
      Facts(
        name: "the bookmark",
        place: "/bookmarks/\(post)",
        refusal: ("The bookmark was not \(isMarked ? "saved" : "removed")", "bookmark")
      )
    }
  }

  /// The action as the subject of a sentence, such as "the star".
  package var name: String { facts.name }

  /// What a refusal means, and the name of the screens' action that tries again; nil if the text
  /// of the action is restored instead.
  package var refusal: (sentence: String, retry: String)? { facts.refusal }

  package var post: PostID? { facts.post }

  /// The key of the comment that it is about.
  package var comment: String? { facts.comment }

  /// The key of the comment or post that it is about.
  package var key: String? {
    let facts = facts
    return facts.comment ?? facts.post
  }

  package var isDeletion: Bool { facts.isDeletion }

  /// The path that the action writes to first.
  var place: String {
    let facts = facts
    let post = facts.post ?? ""
    return facts.place ?? facts.comment.map { "/post-comments/\(post)/\($0)" } ?? "/posts/\(post)"
  }
}
