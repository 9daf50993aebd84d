/// Decides what a copy of a database that another server leads does: see ``Replica``.
///
/// A value without a link, threads or a storage: it takes events, and returns what must be done.
/// State: asking (where the stream begins) → reading (the storage, while the leader's messages are
/// kept, until they cover all that was read) → following → ended.
struct Following<Read> {
  enum Output {
    /// Read the storage and report its content as an event.
    case load
    /// Make the copy from what was read.
    case begin(StoredTree)
    /// Apply the next commits to the copy.
    case commit([Commit])
    case setRules(source: String)
    /// Serve the clients that have been forwarded so far.
    case takeOver
    case awaitEndOfTurn
    /// Answer reads from the copy, which has everything that was acknowledged when they arrived.
    case answer([Read])
    /// Refuse a read, since the copy has ended.
    case refuse(Read)
    /// Stop keeping the copy up to date, and refuse the waiting reads.
    case end(Ending, refusing: [Read], because: String)
  }

  /// Why a copy is no longer kept up to date.
  enum Ending: Equatable {
    /// The leader was lost or replaced. The lineage is that of the copy, if the storage may know it
    /// again.
    case leaderChanged(lineage: String?)
    /// It could not be kept up to date.
    case fault
    /// No client needs it.
    case unneeded
  }

  private enum Phase {
    case asking
    case reading(Reading)
    case following(revision: Int64, lineage: String?)
    case ended
  }

  private struct Reading {
    /// The commit after which the stream begins.
    let start: Int64
    /// The history that the leader read.
    let lineage: String?
    /// The last commit that the leader has sent.
    var reached: Int64
    var told: [FollowerMessage] = []
    var bytes = 0
    /// What the storage holds, once it is read.
    var stored: StoredTree?
  }

  /// The most bytes that the leader may send while the storage is being read.
  private static var mostKept: Int { 64 * 1_024 * 1_024 }

  private var phase = Phase.asking
  /// The reads that have arrived in this turn, and will share a mark.
  private var arriving: [Read] = []
  /// The reads that wait for the leader to confirm a mark, in the order of the marks.
  private var waiting: [(mark: Int, reads: [Read])] = []
  private var lastMark = 0

  /// Whether the copy is complete.
  var isFollowing: Bool { if case .following = phase { true } else { false } }

  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  // MARK: Data

  /// Handles a message of the leader, of so many bytes.
  mutating func receive(_ message: FollowerMessage, bytes: Int) -> [Output] {
    switch (message, phase) {
    case (.mark(let mark), _): return reached(mark)
    case (.beginning(let revision, let lineage), .asking):
      phase = .reading(Reading(start: revision, lineage: lineage, reached: revision))
      return [.load]
    case (.commits, .reading(var reading)), (.rules, .reading(var reading)):
      guard reading.bytes + bytes <= Self.mostKept else {
        return end(.fault, because: "more was written than can be kept while the data is read")
      }
      phase = .asking
      if case .commits(let commits) = message {
        reading.reached = commits.last?.revision ?? reading.reached
      }
      reading.told.append(message)
      reading.bytes += bytes
      phase = .reading(reading)
      return begin()
    case (.commits(let commits), .following(let revision, let lineage)):
      let news = commits.drop { $0.revision <= revision }
      guard let last = news.last else { return [] }
      guard zip(news, (revision + 1)...).allSatisfy({ $0.revision == $1 }) else {
        return end(.fault, because: "the leader has left out a commit")
      }
      phase = .following(revision: last.revision, lineage: lineage)
      return [.commit(Array(news))]
    case (.rules(let source), .following): return [.setRules(source: source)]
    case (.beginning, .reading), (.beginning, .following), (_, .asking), (_, .ended): return []
    }
  }

  /// Handles what the storage holds; nil if it has no such database.
  mutating func loaded(_ stored: StoredTree?) -> [Output] {
    guard case .reading(var reading) = phase else { return [] }
    guard let stored, stored.revision >= reading.start else {
      return end(.fault, because: "the storage lacks what the leader has stored")
    }
    reading.stored = stored
    phase = .reading(reading)
    return begin()
  }

  /// Begins once the leader has sent all that was read.
  ///
  /// Before that, the leader may not know that it is stored, and let other followers answer without
  /// it.
  private mutating func begin() -> [Output] {
    guard case .reading(let reading) = phase, let stored = reading.stored,
      stored.revision <= reading.reached
    else { return [] }
    // If the storage has gone back since the leader read it, the leader may tell what is lost.
    let lineage = stored.lineage == reading.lineage ? stored.lineage : nil
    phase = .following(revision: stored.revision, lineage: lineage)
    let outputs = [.begin(stored)] + reading.told.flatMap { receive($0, bytes: 0) }
    return isFollowing ? outputs + [.takeOver] : outputs
  }

  // MARK: Reads

  /// Adds a read, which is answered once the copy has everything that is acknowledged by now.
  mutating func ask(_ read: Read) -> [Output] {
    if hasEnded { return [.refuse(read)] }
    arriving.append(read)
    return arriving.count == 1 ? [.awaitEndOfTurn] : []
  }

  /// Ends a turn, and returns the mark that the leader has to confirm, if any.
  mutating func turnEnded() -> Int? {
    guard !arriving.isEmpty else { return nil }
    lastMark += 1
    waiting.append((lastMark, arriving))
    arriving = []
    return lastMark
  }

  private mutating func reached(_ mark: Int) -> [Output] {
    let confirmed = waiting.prefix { $0.mark <= mark }
    waiting.removeFirst(confirmed.count)
    return confirmed.isEmpty ? [] : [.answer(confirmed.flatMap(\.reads))]
  }

  // MARK: Ending

  /// Ends the copy, because another server leads the database or no server may.
  mutating func leaderChanged(because reason: String) -> [Output] {
    let lineage: String? = if case .following(_, let lineage) = phase { lineage } else { nil }
    return end(.leaderChanged(lineage: lineage), because: reason)
  }

  /// Ends the copy; nothing happens if it has ended.
  mutating func end(_ ending: Ending, because reason: String) -> [Output] {
    if hasEnded { return [] }
    phase = .ended
    let reads = waiting.flatMap(\.reads) + arriving
    (waiting, arriving) = ([], [])
    return [.end(ending, refusing: reads, because: reason)]
  }
}
