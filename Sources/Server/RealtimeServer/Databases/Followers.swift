/// A server that follows a database, as the leader sees it.
protocol Follower: AnyObject {
  /// Tells it that a batch has become durable.
  func tell(_ batch: CommitBatch)

  /// Called when the database is closed here, so that nothing more will be told.
  func leaderEnded()
}

/// The servers that follow a database that is led here.
///
/// A batch is told as soon as it is durable, before anybody is told that it is. So whoever is told
/// over the same link that a write was stored finds it there.
struct Followers {
  private var all: [any Follower] = []

  /// Adds a server, which is told every batch whose storing has not been reported yet.
  mutating func add(_ follower: any Follower) { all.append(follower) }

  /// Tells a server nothing more.
  mutating func remove(_ follower: any Follower) { all.removeAll { $0 === follower } }

  func tell(_ batch: CommitBatch) {
    for follower in all { follower.tell(batch) }
  }

  /// Ends the streams to all servers.
  mutating func end() {
    let ended = all
    all = []
    for follower in ended { follower.leaderEnded() }
  }
}
