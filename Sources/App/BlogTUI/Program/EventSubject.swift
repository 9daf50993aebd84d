import BlogModel

/// What an event is about: a later event on the same subject replaces an earlier one.
enum EventSubject: Hashable {
  case feed(FeedKind)
  case extent(FeedKind)
  case latestComments(PostID)
  case typing(PostID)
  case people
  case reading
  case me
  case readState
  case notices
  case ownLists
  case roundTrip
  case post(PostID)
  case comments(PostID)
  case hasEarlierComments(PostID)
  case connection
  case connectionProblem
  case silence
  case pendingWrites

  /// Whether it is about the one post that is open, rather than about the blog or a list.
  var concernsOpenPost: Bool {
    switch self {
    case .typing, .post, .comments, .hasEarlierComments: true
    case .feed, .extent, .latestComments, .people, .reading, .me, .readState, .notices, .ownLists,
      .roundTrip, .connection, .connectionProblem, .silence, .pendingWrites:
      false
    }
  }
}

extension Event {
  /// The subject of an event of the blog; nil for any other event.
  var subject: EventSubject? {
    guard case .blog(let event) = self else { return nil }
    return switch event {
    case .feed(let feed, _): .feed(feed)
    case .extent(let feed, _): .extent(feed)
    case .latestComments(let id, _): .latestComments(id)
    case .typing(let id, _): .typing(id)
    case .people: .people
    case .reading: .reading
    case .renamed: .me
    case .readState: .readState
    case .notices: .notices
    case .ownLists: .ownLists
    case .roundTrip: .roundTrip
    case .post(let id, _): .post(id)
    case .comments(let id, _): .comments(id)
    case .hasEarlierComments(let id, _): .hasEarlierComments(id)
    case .connection: .connection
    case .pendingWrites: .pendingWrites
    case .connectionProblem: .connectionProblem
    case .silence: .silence
    case .feedFailed, .postFailed, .named, .unnamed, .succeeded, .failed, .notice, .markAnswered,
      .markRefused, .found:
      nil
    }
  }
}
