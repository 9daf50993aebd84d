/// A server that follows a database, as the leader sees it.
protocol Follower: AnyObject {
  /// Tells it that a batch has become durable.
  func tell(_ batch: CommitBatch)

  /// Called when the database is closed here, so that nothing more will be told.
  func leaderEnded()
}

/// The servers that follow a database that is led here, and the batches that they will be told.
///
/// A batch is told as soon as it is durable, before anybody is told that it is. So whoever is told
/// over the same link that a write was stored finds it there.
struct Followers {
  private var all: [any Follower] = []
  /// The batches that are being stored, the oldest first.
  private var underWay: [CommitBatch] = []

  /// Adds a server, which is told every batch whose storing has not been reported yet.
  mutating func add(_ follower: any Follower) { all.append(follower) }

  /// Tells a server nothing more.
  mutating func remove(_ follower: any Follower) { all.removeAll { $0 === follower } }

  /// Notes a batch that is about to be stored.
  mutating func taken(_ batch: CommitBatch) { underWay.append(batch) }

  /// Forgets the batches under way, none of which has been stored.
  mutating func failed() { underWay = [] }

  /// Tells all servers the oldest batches, which have become durable.
  mutating func stored(_ count: Int) {
    let batches = underWay.prefix(count)
    underWay.removeFirst(batches.count)
    for follower in all { for batch in batches { follower.tell(batch) } }
  }

  /// Ends the streams to all servers.
  mutating func end() {
    let ended = all
    all = []
    for follower in ended { follower.leaderEnded() }
  }
}
