package import BlogModel

/// What readers are told beside the posts themselves, and what they can take back.
package struct Reading: Equatable, Sendable {
  /// How many changes can be taken back.
  static let changeLimit = 100
  /// How often notifications ring, in milliseconds.
  static let noticePause: Int64 = 5_000
  /// How often others are told that I go on typing, in milliseconds.
  static let typingPause: Int64 = 10_000

  /// How far what I did has got, by the key of the post or comment.
  package internal(set) var deliveries: [String: Delivery] = [:]
  /// The terminals that are here.
  package internal(set) var people: [Presence] = []
  /// What I have read; nil as long as nobody knows.
  package private(set) var state: ReadState?
  /// What the blog told last; older than ``state`` as long as a mark of mine is not answered.
  private var told: ReadState?
  /// How many marks of mine are not answered.
  private var unansweredMarks = 0
  /// The newest comments on posts in view whose text I have read, oldest first.
  package internal(set) var latestComments: [PostID: [Comment]] = [:]
  /// The posts whose newest comments the blog was asked for.
  var watched: [PostID] = []
  /// The posts in view, and what was read, when that was asked last.
  var watchedAmong: (ids: [PostID], state: ReadState)?
  /// How long the server took to answer last, in milliseconds.
  package internal(set) var roundTrip: Int?
  /// When the server told something last, in milliseconds since 1970.
  package internal(set) var lastEventAt: Int64?
  /// What I did, the last one last.
  package internal(set) var changes: [Change] = []
  /// What disappears soon.
  package internal(set) var deletions: [Deletion] = []
  /// Whose posts the additional list has.
  package internal(set) var author: Author?
  /// The list that was shown before it.
  package internal(set) var tabBefore = FeedKind.recent
  /// When a notification rang last.
  var noticeAt: Int64?
  /// Whether the blog was asked for notifications.
  var hearsNotices = false
  /// The post on which others see me typing, and since when.
  var typing: (post: PostID, at: Int64)?

  /// Changes what I have read before the blog knows of it.
  mutating func mark(_ change: (inout ReadState) -> Void) {
    guard var marked = state else { return }
    change(&marked)
    state = marked
    unansweredMarks += 1
  }

  /// Takes over what the blog knows, once it knows all that I have marked: an echo of an older mark
  /// would take back the newer one for a moment.
  mutating func take(_ state: ReadState) {
    told = state
    if unansweredMarks == 0 { self.state = state }
  }

  /// Takes note that the blog has stored or refused a mark of mine.
  mutating func takeAnswerToMark() {
    unansweredMarks = max(0, unansweredMarks - 1)
    if unansweredMarks == 0, let told { state = told }
  }

  /// Notes something that can be taken back.
  mutating func add(_ change: Change) {
    changes.append(change)
    if changes.count > Self.changeLimit { changes.removeFirst() }
  }

  /// The keys of all that disappears soon.
  var hidden: Set<String> { Set(deletions.map(\.id)) }

  /// Compares everything that can be seen.
  package static func == (left: Reading, right: Reading) -> Bool {
    left.deliveries == right.deliveries && left.people == right.people && left.state == right.state
      && left.latestComments == right.latestComments
      && left.roundTrip == right.roundTrip && left.lastEventAt == right.lastEventAt
      && left.changes == right.changes && left.deletions == right.deletions
      && left.author == right.author && left.tabBefore == right.tabBefore
  }
}
