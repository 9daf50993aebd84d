import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

/// Compiles the examples of `assets/examples`, whose files are linked into this target, and runs them.
@Suite("The examples", .timeLimit(.minutes(1)))
struct ExampleTests {
  @Test("People in a chat read each other, and are gone when their connection is")
  func chat() async throws {
    let server = try await DatabaseServer.start(.emulator(port: 0))
    let url = try #require(server.urls.first)
    let (anns, bobs) = (try Database(url: url), try Database(url: url))
    let (ann, bob) = (Chat(anns), Chat(bobs))
    try await ann.enter(as: "Ann")
    try await bob.enter(as: "Bob")
    #expect(try await ann.present() == ["Ann", "Bob"])
    let shown = Record<String>()
    let listening = Task { try await ann.listen { shown.append("\($0.name): \($0.text)") } }
    try await bob.say("Tea?", as: "Bob")
    await shown.wait(for: 1)
    try await ann.say("Gladly", as: "Ann")
    #expect(await shown.wait(for: 2) == ["Bob: Tea?", "Ann: Gladly"])
    await bobs.close()
    var present = try await ann.present()
    while present.count > 1 { present = try await ann.present() }
    #expect(present == ["Ann"])
    listening.cancel()
    try await listening.value
    await server.stop()
  }

  @Test("An errand that was written without a connection is sent by a later run, once")
  func errands() async throws {
    let directory = try TemporaryDirectory()
    let server = try await DatabaseServer.start(.emulator(port: 0))
    let url = try #require(server.urls.first)
    let offline = try Errands(url: url, directory: directory.path)
    offline.database.goOffline()
    try await offline.add("Buy tea")
    try await offline.add("Post the letter")
    await offline.database.close()
    let later = try Errands(url: url, directory: directory.path)
    #expect(try await later.sent() == ["Buy tea", "Post the letter"])
    await later.database.close()
    let other = try Database(url: url).reference(withPath: "errands")
    #expect(try await other.getData().childrenCount == 2)
    await server.stop()
  }

  @Test("Guests sign, are counted, read, and see each other")
  func sign() async throws {
    let server = try await DatabaseServer.start(.emulator(port: 0))
    let url = try #require(server.urls.first)
    let (ann, bob) = (GuestBook(try Database(url: url)), GuestBook(try Database(url: url)))
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
    await server.stop()
  }
}
