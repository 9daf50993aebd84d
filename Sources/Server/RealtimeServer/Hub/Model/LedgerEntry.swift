package import RealtimeCore

/// The number up to which the writes of one client have been handled.
package struct LedgerEntry: Sendable, Equatable {
  /// The owner of the writes; only the owner learns their outcome.
  package var owner: WriteOwner
  /// The client of the ``WriteKey``s.
  package var client: String
  /// The highest number that has been applied; a negative one means that there is no entry.
  package var upTo: Int64
  /// The writes up to that number that were not applied, and why.
  package var refused: RefusedWrites
  /// When the client last wrote, in milliseconds since 1970.
  package var lastSeen: Int64

  /// Makes an entry, by default for a client that has not signed in.
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

  package var name: LedgerName { LedgerName(owner: owner, client: client) }
}

/// The owner of a ledger entry, and which of the owner's clients made the writes.
package struct LedgerName: Hashable, Comparable, Sendable {
  package let owner: WriteOwner
  package let client: String

  package static func < (left: LedgerName, right: LedgerName) -> Bool {
    (left.owner, left.client) < (right.owner, right.client)
  }
}

/// The owner of keyed writes, who alone can ask for their outcome.
package enum WriteOwner: Hashable, Comparable, Sendable {
  /// Anyone who names the client; the entry was stored before owners existed.
  case unknown
  /// Anyone who names the client, since no one else has learned that name; the owner of writes by
  /// clients that had not signed in.
  case bearer
  case administrator
  case user(String)

  init(_ identity: Identity) {
    switch identity {
    case .administrator: self = .administrator
    case .user: self = identity.uid.map { .user($0) } ?? .bearer
    }
  }

  /// The form in which a store keeps it.
  package var text: String {
    switch self {
    case .unknown: ""
    case .bearer: "b"
    case .administrator: "a"
    case .user(let uid): "u" + uid
    }
  }

  /// Parses the stored form; nil when ``text`` never gives it.
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

/// Identifies one write permanently, together with its owner.
struct LedgerKey: Hashable, Sendable {
  let name: LedgerName
  let number: Int64
}

/// The numbers of writes that were not applied, each with the reason.
///
/// Consecutive numbers with the same reason take the space of one: a client whose writes are
/// refused usually has all of them refused.
package struct RefusedWrites: Sendable, Equatable {
  /// Consecutive numbers that were refused for one reason.
  package struct Run: Sendable, Equatable {
    package var numbers: ClosedRange<Int64>
    package var status: StatusCode
  }

  /// The runs in ascending order, as few as possible.
  package private(set) var runs: [Run] = []

  package var isEmpty: Bool { runs.isEmpty }

  /// Why a write was not applied, or nil when it is not in the set.
  ///
  /// - Complexity: O(log runs)
  package subscript(number: Int64) -> StatusCode? {
    let index = firstRun(endingFrom: number)
    guard index < runs.count, runs[index].numbers.contains(number) else { return nil }
    return runs[index].status
  }

  /// Adds numbers, replacing the reasons they had before.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func insert(_ numbers: ClosedRange<Int64>, status: StatusCode) {
    remove(numbers)
    var run = Run(numbers: numbers, status: status)
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

  /// Removes numbers.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func remove(_ numbers: ClosedRange<Int64>) {
    let start = firstRun(endingFrom: numbers.lowerBound)
    var end = start
    var kept: [Run] = []
    while end < runs.count, runs[end].numbers.lowerBound <= numbers.upperBound {
      let run = runs[end]
      let (first, last) = (run.numbers.lowerBound, run.numbers.upperBound)
      if first < numbers.lowerBound {
        kept.append(Run(numbers: first...(numbers.lowerBound - 1), status: run.status))
      }
      if last > numbers.upperBound {
        kept.append(Run(numbers: (numbers.upperBound + 1)...last, status: run.status))
      }
      end += 1
    }
    if end > start { runs.replaceSubrange(start..<end, with: kept) }
  }

  /// Adds the part of another set that lies below a number.
  mutating func formUnion(_ other: RefusedWrites, below end: Int64) {
    for run in other.runs where run.numbers.lowerBound < end {
      insert(run.numbers.lowerBound...min(run.numbers.upperBound, end - 1), status: run.status)
    }
  }

  /// Drops the lowest numbers until no more than this many runs are left.
  mutating func keepLast(_ count: Int) {
    if runs.count > count { runs.removeFirst(runs.count - count) }
  }

  /// The index of the first run that ends at or after a number.
  private func firstRun(endingFrom number: Int64) -> Int {
    if let last = runs.last, last.numbers.upperBound < number { return runs.count }
    return runs.partitioningIndex { $0.numbers.upperBound >= number }
  }
}

extension RefusedWrites: ExpressibleByDictionaryLiteral {
  /// Makes a set of single numbers.
  package init(dictionaryLiteral elements: (Int64, StatusCode)...) {
    for (number, status) in elements { insert(number...number, status: status) }
  }
}
