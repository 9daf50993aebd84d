import Dispatch
import FirebaseDatabase
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@Suite("Persistence", .timeLimit(.minutes(1)), .cleansUp)
struct PersistenceTests {
  private let station: Station
  private let keeping: Keeping

  init() async throws {
    station = try await Station()
    keeping = try Keeping()
  }

  private func first(_ query: DatabaseQuery) async throws -> DataSnapshot {
    try await query.observeSingleEvent(of: .value, deadline: .seconds(10))
  }

  // MARK: Data

  @Test("After a restart an observer gets the cached data offline, then the server's")
  func cachedData() async throws {
    let other = try station.open().reference(withPath: "list")
    try await other.setValue(["a": 1, "b": 2, "c": 3])
    let one = try keeping.open(station.url)
    let last = one.reference(withPath: "list").queryLimited(toLast: 2)
    #expect(try await first(last).metadata.isFromCache == false)
    await one.close()
    try await other.child("d").setValue(4)

    let two = try keeping.open(station.url)
    two.goOffline()
    let told = Record<String>()
    let query = two.reference(withPath: "list").queryLimited(toLast: 2)
    query.observe(.value) { told.append("\($0.json) \($0.metadata.isFromCache)") }
    await told.wait(for: 1)
    two.goOnline()
    await told.wait(for: 2)
    #expect(told.elements == [#"{"b":2,"c":3} true"#, #"{"c":3,"d":4} false"#])
    await two.close()
  }

  @Test("After a restart, cached children and writes are available offline, below any observer")
  func cachedParts() async throws {
    try await station.open().reference(withPath: "list").setValue(["a": 1, "b": 2, "c": 3])
    let one = try keeping.open(station.url)
    #expect(try await first(one.reference(withPath: "list/a")).value as? Int == 1)
    #expect(try await first(one.reference(withPath: "list/b")).value as? Int == 2)
    try await one.reference(withPath: "list/d").setValue(4)
    await one.close()

    let two = try keeping.open(station.url)
    two.goOffline()
    let list = two.reference(withPath: "list")
    let told = Record<String>()
    list.observe(.value) { told.append("value \($0.json)") }
    list.observe(.childAdded) { told.append("\($0.key) \($0.json)") }
    #expect(try await first(list.child("a")).value as? Int == 1)
    #expect(try await first(list.child("d")).value as? Int == 4)
    #expect(told.elements == ["a 1", "b 2", "d 4"])
    two.goOnline()
    await told.wait { $0.contains(#"value {"a":1,"b":2,"c":3,"d":4}"#) }
    await two.close()
  }

  @Test("Unchanged data is not sent again after a restart")
  func resumed() async throws {
    let server = station.directory.file("s")
    let relay = try Relay(station.directory.file("r"), to: server)
    let url = station.url.replacing(server.dropFirst(), with: relay.path.dropFirst())
    let text = String(repeating: "unmistakable ", count: 200)
    try await station.open().reference(withPath: "list").setValue(["a": text, "b": text])
    for run in 0..<2 {
      let database = try keeping.open(url)
      let list = database.reference(withPath: "list")
      let handle = list.observe(.value) { _ in }
      // Requests are answered in order.
      try await database.reference(withPath: "other").setValue(run)
      #expect(try await first(list).childSnapshot(forPath: "b").value as? String == text)
      #expect(relay.takeSaid().contains("unmistakable") == (run == 0))
      list.removeObserver(withHandle: handle)
      await database.close()
    }
  }

  @Test("The file stays within its size limit and keeps the data read last")
  func size() async throws {
    let database = try keeping.open(station.url) { $0.persistenceCacheSizeBytes = 1_048_576 }
    let text = String(repeating: "x", count: 150_000)
    for number in 0..<20 {
      let ref = database.reference(withPath: "big/\(number)")
      try await ref.setValue(text)
      #expect(try await first(ref).exists())
    }
    // Each time the store reports its size, part of what has not been used for long is deleted.
    for _ in 0..<20 { try await database.waitUntilStored() }
    await database.close()
    let attributes = try FileManager.default.attributesOfItem(atPath: #require(keeping.file))
    #expect(try #require(attributes[.size] as? Int) <= 1_048_576)
    let next = try keeping.open(station.url)
    next.goOffline()
    #expect(try await first(next.reference(withPath: "big/19")).exists())
    await next.close()
  }

  // MARK: Writes

  @Test("A write whose completion was called is not sent again, even by a process killed at once")
  func completed() async throws {
    let database = try keeping.open(station.url)
    let count = database.reference(withPath: "count")
    for number in 1...10 {
      let left = try Keeping()
      let told = Record<Bool>()
      count.setValue(ServerValue.increment(1)) { error, _ in
        // The files as a process that is killed here would leave them.
        told.append(error == nil && (try? left.copyFiles(of: keeping)) != nil)
      }
      #expect(await told.wait(for: 1) == [true])
      let next = try left.open(station.url)
      next.goOffline()
      let shown = try await first(next.reference(withPath: "count"))
      #expect(shown.value as? Int == number)
      #expect(!shown.metadata.hasPendingWrites)
      await next.close()
    }
    await database.close()
  }

  @Test("Offline writes are visible after a restart and sent once, in order")
  func writes() async throws {
    let one = try keeping.open(station.url)
    one.goOffline()
    func write(_ database: Database, _ number: Int) {
      database.reference(withPath: "last").setValue(number)
      database.reference().updateChildValues([
        "count": ServerValue.increment(1), "log/\(number)": ServerValue.timestamp(),
      ])
    }
    for number in 0..<20 { write(one, number) }
    await one.close()

    let two = try keeping.open(station.url)
    two.goOffline()
    for number in 20..<30 { write(two, number) }
    let shown = try await first(two.reference(withPath: "count"))
    #expect(shown.value as? Int == 30)
    #expect(shown.metadata.hasPendingWrites && shown.metadata.isFromCache)
    #expect(try await first(two.reference(withPath: "last")).value as? Int == 29)
    two.goOnline()
    await two.waitUntilAcknowledged()
    await two.close()

    let three = try keeping.open(station.url)
    await three.waitUntilUsed()
    await three.waitUntilAcknowledged()
    let stored = try await station.open().reference().getData()
    #expect(stored.childSnapshot(forPath: "count").value as? Int == 30)
    #expect(stored.childSnapshot(forPath: "last").value as? Int == 29)
    #expect(stored.childSnapshot(forPath: "log").childrenCount == 30)
    await three.close()
  }

  // Differs: If the acknowledgement of a write
  @Test("A write whose acknowledgment was lost with its process is not applied again")
  func lostAcknowledgement() async throws {
    let server = station.directory.file("s")
    let relay = try Relay(station.directory.file("r"), to: server)
    let url = station.url.replacing(server.dropFirst(), with: relay.path.dropFirst())
    let count = try station.open().reference(withPath: "count")
    let told = Record<Int>()
    count.observe(.value) { told.append($0.value as? Int ?? 0) }

    let one = try keeping.open(url)
    try await one.reference(withPath: "other").setValue(true)
    relay.setDeaf(true)
    func write() {
      for _ in 0..<5 { one.reference(withPath: "count").setValue(ServerValue.increment(1)) }
    }
    write()
    await told.wait { $0.last == 5 }
    await one.close()
    relay.setDeaf(false)

    let two = try keeping.open(url)
    try await two.reference(withPath: "count").setValue(ServerValue.increment(1))
    await two.waitUntilAcknowledged()
    // An observer may learn of it a moment later; a client without one asks the server.
    let fresh = try station.open().reference(withPath: "count")
    #expect(try await fresh.getData().value as? Int == 6)
    await told.wait { $0.last == 6 }
    #expect(told.elements.allSatisfy { $0 <= 6 })
    await two.close()
  }

  @Test("Every write reported as stored survives kill -9 with all earlier ones, once and in order")
  func killed() async throws {
    let progress = keeping.directory.file("progress")
    #expect(FileManager.default.createFile(atPath: progress, contents: nil))
    var stored = 0
    for milliseconds in [20, 90, 200] {
      let job = Job(
        url: station.url,
        directory: keeping.directory.file("client"),
        progress: progress,
        milliseconds: milliseconds
      )
      await #expect(processExitsWith: .signal(SIGKILL)) { [job = job as Job] in
        try await job.run()
      }
      let text = try String(contentsOfFile: progress, encoding: .utf8)
      stored = text.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
    }
    #expect(stored > 0)
    let database = try keeping.open(station.url)
    await database.waitUntilUsed()
    await database.waitUntilAcknowledged()
    let result = try await station.open().reference().getData()
    let count = try #require(result.childSnapshot(forPath: "count").value as? Int)
    #expect(count >= stored)
    #expect(result.childSnapshot(forPath: "last").value as? Int == count)
    let log = result.childSnapshot(forPath: "log").childSnapshots.compactMap { $0.value as? Int }
    #expect(log == Array(1...count))
    #expect(keeping.problems.elements.isEmpty)
    await database.close()
  }

  /// The work of a process that is going to be killed: it counts, offline, from where the last one
  /// ended.
  private struct Job: Codable, Sendable {
    let url: String
    let directory: String
    let progress: String
    let milliseconds: Int

    func run() async throws {
      var options = DatabaseOptions()
      options.persistenceDirectory = directory
      options.readDeadline = .milliseconds(1)
      let database = try Database(url: url, options: options)
      database.callbackQueue = DispatchQueue(label: "test.callbacks")
      database.isPersistenceEnabled = true
      database.goOffline()
      let root = database.reference()
      let start = try? await root.child("last").getData().value as? Int
      let file = FileHandle(forWritingAtPath: progress)
      _ = try file?.seekToEnd()
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
        kill(getpid(), SIGKILL)
      }
      for number in ((start ?? 0) + 1)... {
        let key = String(repeating: "0", count: 6 - String(number).count) + String(number)
        write(root, ["count": ServerValue.increment(1), "last": number, "log/\(key)": number])
        if number % 3 == 0 {
          try await database.waitUntilStored()
          try file?.write(contentsOf: Data("\(number)\n".utf8))
        }
      }
    }

    private func write(_ root: DatabaseReference, _ values: [AnyHashable: Any]) {
      root.updateChildValues(values)
    }
  }

  // MARK: Trouble

  // Differs: Only one process uses
  @Test("A second database on the same file works without persistence and reports it")
  func inUse() async throws {
    let one = try keeping.open(station.url)
    try await one.reference(withPath: "a").setValue(1)
    let two = try keeping.open(station.url)
    #expect(try await two.reference(withPath: "a").getData().value as? Int == 1)
    #expect(await keeping.problems.wait(for: 1) == [.persistenceInUse])
    let error = await #expect(throws: DatabaseError.self) { try await two.waitUntilStored() }
    #expect(error?.kind == .persistenceUnavailable)
    await two.close()
    await one.close()
  }

  @Test("A database works without persistence if its file cannot be opened")
  func unavailable() async throws {
    try Data().write(to: URL(fileURLWithPath: keeping.directory.file("client")))
    let database = try keeping.open(station.url)
    try await database.reference(withPath: "a").setValue(1)
    #expect(await keeping.problems.wait(for: 1) == [.persistenceUnavailable])
    await database.close()
  }

  // Differs: A damaged file is renamed
  @Test("A damaged file is set aside and reported, and the database continues with an empty one")
  func damaged() async throws {
    let one = try keeping.open(station.url)
    try await one.reference(withPath: "a").setValue(1)
    await one.close()
    try Data("no database".utf8).write(to: URL(fileURLWithPath: #require(keeping.file)))
    let two = try keeping.open(station.url)
    #expect(try await two.reference(withPath: "a").getData().value as? Int == 1)
    #expect(await keeping.problems.wait(for: 1) == [.persistenceDamaged])
    await two.close()
    let three = try keeping.open(station.url)
    three.goOffline()
    #expect(try await three.reference(withPath: "a").getData().value as? Int == 1)
    await three.close()
  }

  @Test("waitUntilStored throws without persistence")
  func disabled() async throws {
    let database = try Database(url: "unix:/nonexistent/socket?ns=none")
    let error = await #expect(throws: DatabaseError.self) { try await database.waitUntilStored() }
    #expect(error?.kind == .persistenceUnavailable)
  }

  // MARK: The end

  @Test("A closed database raises no more events and fails all pending calls")
  func closed() async throws {
    let database = try station.open()
    let ref = database.reference(withPath: "a")
    try await ref.setValue(1)
    let told = Record<Int>()
    ref.observe(.value) { told.append($0.value as? Int ?? 0) }
    await told.wait(for: 1)
    database.goOffline()
    let codes = Record<DatabaseError.Kind?>()
    func write(_ value: Int) {
      ref.setValue(value) { error, _ in codes.append((error as? DatabaseError)?.kind) }
    }
    write(2)
    await told.wait(for: 2)
    await database.close()
    await codes.wait(for: 1)
    write(3)
    await codes.wait(for: 2)
    database.goOnline()
    let late = await #expect(throws: DatabaseError.self) { try await ref.getData() }
    let transaction = await #expect(throws: DatabaseError.self) {
      try await ref.runTransactionBlock { .success(withValue: $0) }
    }
    #expect([late?.kind, transaction?.kind] == [.unavailable, .unavailable])
    #expect(codes.elements == [.unavailable, .unavailable])
    #expect(told.elements == [1, 2])
    await database.close()
    #expect(try await station.open().reference(withPath: "a").getData().value as? Int == 1)
  }
}

extension Database {
  /// Uses the database, so that it opens its file and connects.
  fileprivate func waitUntilUsed() async {
    _ = try? await reference(withPath: "nothing").getData()
  }
}
