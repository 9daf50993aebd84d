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
