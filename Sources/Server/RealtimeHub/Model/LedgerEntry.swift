package import RealtimeCore

/// Up to where the writes of one client have been dealt with.
package struct LedgerEntry: Sendable, Equatable {
  /// Whose the writes are; only they are told what became of them.
  package var owner: WriteOwner
  /// The client of the ``WriteKey``s.
  package var client: String
  /// The highest number that has been applied; a negative one stands for no entry at all.
  package var upTo: Int64
  /// The writes below that were not applied, and why.
  package var refused: RefusedWrites
  /// When the client last wrote, in milliseconds since 1970.
  package var lastSeen: Int64

  /// Makes an entry, by default one of a client that has not signed in.
  package init(
    owner: WriteOwner = .bearer,
    client: String,
    upTo: Int64,
    refused: RefusedWrites = [:],
    lastSeen: Int64
  ) {
    self.owner = owner
    self.client = client
    self.upTo = upTo
    self.refused = refused
    self.lastSeen = lastSeen
  }

  /// What no other entry has.
  package var name: LedgerName { LedgerName(owner: owner, client: client) }
}

/// Whose an entry of the ledger is, and which of the owner's clients made the writes.
package struct LedgerName: Hashable, Comparable, Sendable {
  /// Whose it is.
  package let owner: WriteOwner
  /// The client of the ``WriteKey``s.
  package let client: String

  /// Makes a name.
  package init(owner: WriteOwner, client: String) {
    self.owner = owner
    self.client = client
  }

  package static func < (left: LedgerName, right: LedgerName) -> Bool {
    (left.owner, left.client) < (right.owner, right.client)
  }
}

/// Whose keyed writes are, which decides who can ask what became of them.
package enum WriteOwner: Hashable, Comparable, Sendable {
  /// Whoever names the client: it was remembered before there were owners.
  case unknown
  /// Whoever names the client, as nobody else has learned that name; the owner of what was written
  /// by somebody who had not signed in.
  case bearer
  /// Whoever may do everything.
  case administrator
  /// A signed-in user.
  case user(String)

  /// Whom the writes of somebody belong to.
  init(_ identity: Identity) {
    switch identity {
    case .administrator: self = .administrator
    case .user: self = identity.uid.map { .user($0) } ?? .bearer
    }
  }

  /// What a store keeps.
  package var text: String {
    switch self {
    case .unknown: ""
    case .bearer: "b"
    case .administrator: "a"
    case .user(let uid): "u" + uid
    }
  }

  /// Reads what a store has kept; nil when it is none of what ``text`` gives.
  package init?(text: String) {
    switch text {
    case "": self = .unknown
    case "b": self = .bearer
    case "a": self = .administrator
    default:
      guard text.first == "u" else { return nil }
      self = .user(String(text.dropFirst()))
    }
  }
}

/// Names one write for good, together with whose it is.
struct LedgerKey: Hashable, Sendable {
  let name: LedgerName
  /// The number of the ``WriteKey``.
  let number: Int64
}

/// The numbers of writes that were not applied, each with the reason.
///
/// Numbers that follow each other and have the same reason take the room of one: somebody whose writes
/// are refused usually has all of them refused.
package struct RefusedWrites: Sendable, Equatable {
  /// Consecutive numbers that were refused for one reason.
  package struct Run: Sendable, Equatable {
    /// The numbers.
    package var numbers: ClosedRange<Int64>
    /// Why they were not applied.
    package var status: StatusCode

    /// Makes a run.
    package init(_ numbers: ClosedRange<Int64>, status: StatusCode) {
      self.numbers = numbers
      self.status = status
    }
  }

  /// The runs, numbers ascending, as few as there can be.
  package private(set) var runs: [Run] = []

  /// Makes an empty set.
  package init() {}

  /// How many runs there are.
  package var count: Int { runs.count }

  /// Whether nothing was refused.
  package var isEmpty: Bool { runs.isEmpty }

  /// Why a write was not applied, or nil when it is not among those.
  ///
  /// - Complexity: O(log runs)
  package subscript(number: Int64) -> StatusCode? {
    let index = firstRun(endingFrom: number)
    guard index < runs.count, runs[index].numbers.contains(number) else { return nil }
    return runs[index].status
  }

  /// Adds numbers, whatever the reason was before.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func insert(_ numbers: ClosedRange<Int64>, status: StatusCode) {
    remove(numbers)
    var run = Run(numbers, status: status)
    var index = firstRun(endingFrom: numbers.lowerBound)
    if index < runs.count, runs[index].status == status,
      runs[index].numbers.lowerBound - 1 == numbers.upperBound
    {
      run.numbers = numbers.lowerBound...runs[index].numbers.upperBound
      runs.remove(at: index)
    }
    if index > 0, runs[index - 1].status == status,
      runs[index - 1].numbers.upperBound + 1 == numbers.lowerBound
    {
      index -= 1
      run.numbers = runs[index].numbers.lowerBound...run.numbers.upperBound
      runs.remove(at: index)
    }
    runs.insert(run, at: index)
  }

  /// Takes numbers out.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func remove(_ numbers: ClosedRange<Int64>) {
    let start = firstRun(endingFrom: numbers.lowerBound)
    var end = start
    var kept: [Run] = []
    while end < runs.count, runs[end].numbers.lowerBound <= numbers.upperBound {
      let run = runs[end]
      if run.numbers.lowerBound < numbers.lowerBound {
        kept.append(Run(run.numbers.lowerBound...(numbers.lowerBound - 1), status: run.status))
      }
      if run.numbers.upperBound > numbers.upperBound {
        kept.append(Run((numbers.upperBound + 1)...run.numbers.upperBound, status: run.status))
      }
      end += 1
    }
    if end > start { runs.replaceSubrange(start..<end, with: kept) }
  }

  /// Adds all of another set that is below a number.
  mutating func formUnion(_ other: RefusedWrites, below end: Int64) {
    for run in other.runs where run.numbers.lowerBound < end {
      insert(run.numbers.lowerBound...min(run.numbers.upperBound, end - 1), status: run.status)
    }
  }

  /// Forgets the lowest numbers beyond so many runs.
  mutating func keepLast(_ count: Int) {
    if runs.count > count { runs.removeFirst(runs.count - count) }
  }

  /// The first run that ends at a number or behind it.
  private func firstRun(endingFrom number: Int64) -> Int {
    if let last = runs.last, last.numbers.upperBound < number { return runs.count }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].numbers.upperBound < number {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}

extension RefusedWrites: ExpressibleByDictionaryLiteral {
  /// Makes a set of single numbers.
  package init(dictionaryLiteral elements: (Int64, StatusCode)...) {
    for (number, status) in elements { insert(number...number, status: status) }
  }
}
