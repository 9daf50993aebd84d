import Foundation
import RealtimeDatabase
import TestSupport
import Testing

/// Compiles the example (its file is linked into this target) and runs it.
@Suite("The example", .timeLimit(.minutes(1)))
struct GuestBookTests {
  @Test("Guests sign, are counted, read, and see each other")
  func sign() async throws {
    try await Station.run { station in
      let ann = GuestBook(try station.open())
      let bob = GuestBook(try station.open())
      try await ann.sign(name: "Ann", text: "Hello")
      let told = Record<String>()
      let following = Task { try await bob.follow { told.append("\($0.name): \($0.text)") } }
      await told.wait(for: 1)
      try await bob.sign(name: "Bob", text: "Hi")
      #expect(await told.wait(for: 2) == ["Ann: Hello", "Bob: Hi"])
      following.cancel()
      try await following.value
      #expect(try await ann.visits() == 2)
      let entries = try await ann.last(10)
      #expect(entries.map(\.name) == ["Ann", "Bob"])
      #expect(entries.allSatisfy { $0.date != nil })
    }
  }
}

/// A guest book that everyone signs and everyone sees at once.
struct GuestBook {
  /// What a guest leaves.
  struct Entry: Codable {
    var name: String
    var text: String
    /// Set by the server when it stores the entry.
    @ServerTimestamp var date: Date?
  }

  private let entries: DatabaseReference
  private let visitCount: DatabaseReference

  /// Opens the book of a database.
  init(_ database: Database) {
    entries = database.reference(withPath: "guest-book/entries")
    visitCount = database.reference(withPath: "guest-book/visits")
  }

  /// Adds an entry and counts it.
  func sign(name: String, text: String) async throws {
    // The key sorts by time, so that the book is in the order of its entries.
    try await entries.childByAutoId().setValue(from: Entry(name: name, text: text, date: nil))
    // The server adds, so that no visit is lost when two people sign at once.
    try await visitCount.setValue(ServerValue.increment(1))
  }

  /// How often the book was signed.
  func visits() async throws -> Int {
    try await visitCount.getData().data(as: Int?.self) ?? 0
  }

  /// The last entries, oldest first.
  func last(_ count: UInt) async throws -> [Entry] {
    let snapshot = try await entries.queryLimited(toLast: count).getData()
    return snapshot.childSnapshots.compactMap { try? $0.data(as: Entry.self) }
  }

  /// Tells the last entry and each one that comes, until the task is cancelled.
  func follow(_ tell: @Sendable (Entry) -> Void) async throws {
    for try await case .childAdded(let snapshot, _) in entries.queryLimited(toLast: 1).childEvents()
    {
      if let entry = try? snapshot.data(as: Entry.self) { tell(entry) }
    }
  }
}
