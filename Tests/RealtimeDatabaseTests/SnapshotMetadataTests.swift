import Dispatch
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@Suite("SnapshotMetadata", .timeLimit(.minutes(1)), .cleansUp)
struct SnapshotMetadataTests {
  private func text(_ metadata: SnapshotMetadata) -> String {
    (metadata.isFromCache ? "cached" : "current") + (metadata.hasPendingWrites ? " pending" : "")
  }

  @Test("Value and child events report where their data comes from")
  func events() async throws {
    let station = try await Station()
    let database = try station.open()
    let list = database.reference(withPath: "list")
    try await list.setValue(["a": 1])
    let told = Record<String>()
    list.observe([.value, .childAdded, .childChanged]) { _, snapshot, _ in
      told.append("\(snapshot.key) \(snapshot.json) \(self.text(snapshot.metadata))")
    }
    await told.wait(for: 2)
    func write(_ value: Int) { list.child("a").setValue(value, withCompletionBlock: nil) }
    write(2)
    await told.wait(for: 4)
    // The acknowledgement alone raises no event.
    await database.waitUntilAcknowledged()
    try await station.open().reference(withPath: "list/b").setValue(3)
    await told.wait(for: 6)
    database.goOffline()
    write(4)
    await told.wait(for: 8)
    #expect(
      told.elements == [
        "a 1 current", #"list {"a":1} current"#,
        "a 2 current pending", #"list {"a":2} current pending"#,
        "b 3 current", #"list {"a":2,"b":3} current"#,
        "a 4 cached pending", #"list {"a":4,"b":3} cached pending"#,
      ]
    )
  }

  @Test("What waits for the server's data comes after its events")
  func current() async throws {
    let station = try await Station()
    try await station.open().reference(withPath: "list/a").setValue(1)
    let database = try station.open()
    database.goOffline()
    let told = Record<String>()
    database.reference(withPath: "list").observe(.value) { told.append($0.json) }
    database.whenCurrent { told.append("current") }
    database.goOnline()
    await told.wait(for: 2)
    #expect(told.elements == [#"{"a":1}"#, "current"])
  }

  @Test("A child snapshot has the metadata of the whole")
  func parts() async throws {
    let list = try await Station().open().reference(withPath: "list")
    list.database.goOffline()
    list.child("a/b").setValue(1) { _, _ in }
    let told = Record<SnapshotMetadata>()
    list.observe(.childAdded) { snapshot in
      told.append(snapshot.metadata)
      told.append(snapshot.childSnapshot(forPath: "b").metadata)
      told.append(contentsOf: snapshot.childSnapshots.map(\.metadata))
    }
    list.child("c").setValue(["d": 1]) { _, _ in }
    let metadata = await told.wait(for: 3)
    #expect(metadata.allSatisfy { $0.isFromCache && $0.hasPendingWrites })
  }

  @Test("A read from the server is current; one that cannot reach it returns cached data")
  func reads() async throws {
    let station = try await Station()
    let keeping = try Keeping()
    let database = try keeping.open(station.url)
    let list = database.reference(withPath: "list")
    try await station.open().reference(withPath: "list").setValue(["a": 1, "b": 2, "c": 3])
    #expect(text(try await list.getData().metadata) == "current")
    await database.close()

    // No server listens at this address, and the file belongs to it.
    let away = try keeping.open(station.url, readDeadline: .milliseconds(300))
    await station.server.stop()
    let told = Record<String>()
    let window = away.reference(withPath: "list").queryLimited(toFirst: 1)
    window.observe(.value) { told.append("\($0.json) \(self.text($0.metadata))") }
    await told.wait(for: 1)
    let read = try await away.reference(withPath: "list").getData()
    #expect("\(read.json) \(text(read.metadata))" == #"{"a":1,"b":2,"c":3} cached"#)
    let last = try await away.reference(withPath: "list").queryLimited(toLast: 1).getData()
    #expect("\(last.json) \(text(last.metadata))" == #"{"c":3} cached"#)
    #expect(told.elements == [#"{"a":1} cached"#])
    let error = await #expect(throws: DatabaseError.self) {
      try await away.reference(withPath: "unknown").getData()
    }
    #expect(error?.kind == .unavailable)
    await away.close()
  }

  @Test("A read that the server does not answer in time returns cached data")
  func silence() async throws {
    let server = try await ScriptedServer { _, _ in [] }
    let keeping = try Keeping()
    let database = try keeping.open(server.url, readDeadline: .milliseconds(300))
    let ref = database.reference(withPath: "a")
    ref.setValue(7) { _, _ in }
    let read = try await ref.getData()
    #expect(read.value as? Int == 7)
    #expect(text(read.metadata) == "cached pending")
    await database.close()
  }

  @Test("A stored transaction returns the server's data")
  func transactions() async throws {
    let ref = try await Station().open().reference(withPath: "n")
    let (_, snapshot) = try await ref.runTransactionBlock { data in
      data.value = 1
      return .success(withValue: data)
    }
    #expect(text(snapshot.metadata) == "current")
  }
}

extension Record {
  fileprivate func append(contentsOf elements: [Element]) {
    for element in elements { append(element) }
  }
}
