package import BlogModel
package import TerminalUI

/// The open post as the screen shows it: its text, its comments and the line to write one.
///
/// States: loading → present ⇄ gone. What was typed stays in each of them.
package struct OpenPost: Equatable, Sendable {
  /// The key of the post.
  package let id: PostID
  /// The post as it was last seen.
  package private(set) var post: Post?
  /// Whether the post was deleted.
  package private(set) var isGone = false
  /// The comments, oldest first; nil before they came.
  package private(set) var comments: [Comment]?
  /// The comment that keys act on; nil while the post itself is meant.
  package internal(set) var selection: String?
  /// The comment that is being written.
  package internal(set) var field: TextField
  /// Whether keys go into the comment.
  package internal(set) var isWriting = false
  /// All lines of the screen.
  package private(set) var layout = PostLayout()
  /// The number of lines above the first visible one.
  package internal(set) var top = 0
  /// The number of lines in view.
  package private(set) var capacity = 1
  /// The comment of mine that is to be brought into view as soon as it is there.
  package internal(set) var awaited: String?

  /// Makes the state for a post, of which the list may know something already.
  init(id: PostID, known: Post?, comment: String) {
    self.id = id
    post = known
    field = TextField(text: comment)
  }

  /// The number of the selected comment.
  package var selectedIndex: Int? {
    selection.flatMap { id in comments?.firstIndex { $0.id == id } }
  }
  /// The selected comment.
  package var selectedComment: Comment? { selectedIndex.flatMap { comments?[$0] } }
  /// The numbers of the lines in view.
  package var visibleRange: Range<Int> { top..<min(layout.lines.count, top + capacity) }
  /// The number of comments that begin below the last visible line.
  package var commentsBelow: Int {
    layout.ranges.reversed().prefix { $0.lowerBound >= top + capacity }.count
  }
  /// Whether the end of the text is in view.
  var isAtEnd: Bool { top + capacity >= contentCount }

  /// The number of lines without the blank one at the end.
  private var contentCount: Int {
    layout.lines.last == .blank ? layout.lines.count - 1 : layout.lines.count
  }
  var lastTop: Int { max(0, contentCount - capacity) }

  /// Takes over what the database says about the post; nil if it is deleted.
  mutating func update(post new: Post?) {
    isGone = new == nil
    guard let new, new != post else { return }
    post = new
    rebuild(width: layout.width)
  }

  /// Takes over the comments; what is read stays where it is.
  mutating func update(comments new: [Comment]) {
    var seen: Set<String> = []
    let unique = new.filter { seen.insert($0.id).inserted }
    guard unique != comments else { return }
    let follows = isAtEnd && comments != nil && (top > 0 || isWriting || isLastSelected)
    let neighbour = selectedIndex
    comments = unique
    if let selection, !seen.contains(selection) {
      // The next comment takes the place of one that is gone, else the one before it.
      let index = min(neighbour ?? 0, unique.count - 1)
      self.selection = index >= 0 ? unique[index].id : nil
    }
    rebuild(width: layout.width)
    if follows { followEnd() }
    if let id = awaited, let index = unique.firstIndex(where: { $0.id == id }) {
      awaited = nil
      reveal(layout.ranges[index])
    }
  }

  /// Brings a new comment of mine into view, now or as soon as it is there.
  mutating func await(comment id: String) {
    guard let index = comments?.firstIndex(where: { $0.id == id }) else {
      awaited = id
      return
    }
    reveal(layout.ranges[index])
  }

  /// Scrolls to the end, but never so far that the selected comment leaves the view.
  private mutating func followEnd() {
    top = min(lastTop, selectedIndex.map { layout.ranges[$0].lowerBound } ?? lastTop)
  }

  private var isLastSelected: Bool { selection != nil && selection == comments?.last?.id }

  /// Tells how much room there is for the text and for the line below.
  mutating func resize(text: Size, field: Size) {
    capacity = max(1, text.height)
    if text.width != layout.width || layout.lines.isEmpty { rebuild(width: text.width) }
    self.field.resize(to: field)
    top = min(top, lastTop)
    if let index = selectedIndex { reveal(layout.ranges[index]) }
  }

  /// Makes the lines again and keeps the same comment, or the same line of the post, at the top.
  private mutating func rebuild(width: Int) {
    let anchor = layout.ranges.lastIndex { $0.lowerBound <= top }
    var anchorID: String?
    var offset = 0
    if let anchor {
      offset = top - layout.ranges[anchor].lowerBound
      anchorID = anchorIDs.indices.contains(anchor) ? anchorIDs[anchor] : nil
    }
    layout.update(post: post, comments: comments, width: width)
    if let anchorID, let index = comments?.firstIndex(where: { $0.id == anchorID }) {
      // The blank line behind a comment may be the one at the top.
      top = layout.ranges[index].lowerBound + min(offset, layout.ranges[index].count)
    }
    anchorIDs = (comments ?? []).map(\.id)
    top = max(0, min(top, lastTop))
  }

  /// The identifiers of the comments of the present layout.
  private var anchorIDs: [String] = []
}
