import Dispatch
import FirebaseDatabase
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@Suite("Connections, observers and deadlines", .timeLimit(.minutes(1)), .cleansUp)
struct LifecycleTests {
  @Test("An observer removed in its own callback gets events already raised and no later ones")
  func removalInCallback() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    try await ref.setValue(["a": 1, "b": 2, "c": 3])
    let told = Record<String>()
    let other = Record<String>()
    let handle = NIOLockedValueBox<DatabaseHandle>(0)
    // The queue is suspended until the handle is known.
    ref.database.callbackQueue.suspend()
    handle.withLockedValue {
      $0 = ref.observe(.childAdded) { snapshot in
        told.append(snapshot.key)
        ref.removeObserver(withHandle: handle.withLockedValue { $0 })
      }
    }
    ref.observe(.childAdded) { other.append($0.key) }
    ref.database.callbackQueue.resume()
    await other.wait(for: 3)
    try await ref.child("d").setValue(4)
    await other.wait(for: 4)
    #expect(told.elements == ["a", "b", "c"])
  }

  @Test("Reads and observers do not affect each other")
  func getAndObserve() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    try await ref.setValue(["a": 1, "b": 2])
    let told = Record<Int>()
    ref.queryLimited(toFirst: 1).observe(.value) { told.append(Int($0.childrenCount)) }
    await told.wait(for: 1)
    #expect(try await ref.getData().childrenCount == 2)
    #expect(try await ref.queryLimited(toLast: 1).getData().hasChild("b"))
    try await ref.child("0").setValue(0)
    let after = await told.wait(for: 2)
    #expect(after.allSatisfy { $0 == 1 })
  }

  // Differs: A database made by
  @Test("The connection ends when the last reference is dropped")
  func lastReference() async throws {
    let server = try await ScriptedServer()
    weak var dropped: Database?
    do {
      let ref = try server.open().reference(withPath: "a")
      dropped = ref.database
      try await ref.setValue(1)
      let handle = ref.observe(.value) { _ in }
      ref.removeObserver(withHandle: handle)
      _ = try await ref.getData()
      #expect(server.ends.elements.isEmpty)
    }
    await server.ends.wait(for: 1)
    #expect(dropped == nil)
  }

  @Test("A write without a completion is stored even if its database is dropped at once")
  func droppedWrite() async throws {
    let station = try await Station()
    func write() throws { try station.open().reference(withPath: "a").setValue(1) }
    try write()
    let told = Record<Bool>()
    let ref = try station.open().reference(withPath: "a")
    ref.observe(.value) { told.append($0.exists()) }
    await told.wait { $0.contains(true) }
    #expect(told.elements.last == true)
  }

  @Test("A read or awaited write without a connection fails at its deadline and says why")
  func obstacle() async throws {
    var options = DatabaseOptions()
    options.readDeadline = .milliseconds(50)
    options.writeDeadline = options.readDeadline
    let database = try Database(url: "unix:/nonexistent/socket?ns=none", options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    let reasons = Record<String>()
    database.observeConnection { if let problem = $0.problem { reasons.append(problem.reason) } }
    let place = database.reference(withPath: "a")
    place.keepSynced(true)
    let reason = try #require(await reasons.wait(for: 1).first)
    let read = await #expect(throws: DatabaseError.self) { try await place.getData() }
    #expect(read?.kind == .unavailable && read?.path == "/a")
    #expect(read?.reason == "Client is offline: \(reason)")
    let write = await #expect(throws: DatabaseError.self) { try await place.setValue(1) }
    #expect(write?.kind == .timedOut)
    #expect(write?.reason.contains(reason) == true)
  }

  @Test("A first connection is not reported as a reconnection while the server greets")
  func firstConnection() async throws {
    let station = try await Station()
    let database = try station.open()
    let phases = Record<ConnectionStatus.Phase>()
    database.observeConnection { phases.append($0.phase) }
    database.goOnline()
    await phases.wait { $0.last == .connected }
    #expect(!phases.elements.contains(.connecting(isFirst: false)))
  }

  // Differs: A read fails at once after
  @Test("A read fails at once after goOffline if nothing is cached")
  func offlineRead() async throws {
    var options = DatabaseOptions()
    options.readDeadline = nil
    let database = try Database(url: "unix:/nonexistent/socket?ns=none", options: options)
    database.goOffline()
    let error = await #expect(throws: DatabaseError.self) {
      try await database.reference(withPath: "a").getData()
    }
    #expect(error?.kind == .unavailable)
    #expect(error?.reason == "Client is offline.")
  }

  @Test("A read waits three seconds for a connection, or as long as configured")
  func connectionDeadline() {
    var options = DatabaseOptions()
    #expect(options.readConnectionDeadline == .seconds(3))
    options.readDeadline = .seconds(20)
    #expect(options.readConnectionDeadline == .seconds(20))
    options.readDeadline = nil
    #expect(options.readConnectionDeadline == nil)
  }

  // Differs: An awaited write fails with
  @Test("An awaited write or transaction that cannot reach the server fails at its deadline")
  func writeDeadline() async throws {
    var options = DatabaseOptions()
    options.writeDeadline = .milliseconds(50)
    let database = try Database(url: "unix:/nonexistent/socket?ns=none", options: options)
    let ref = database.reference(withPath: "a")
    let write = await #expect(throws: DatabaseError.self) { try await ref.setValue(1) }
    #expect(write?.kind == .timedOut)
    let transaction = await #expect(throws: DatabaseError.self) {
      try await ref.runTransactionBlock { .success(withValue: $0) }
    }
    #expect(transaction?.kind == .timedOut)
    let event = await #expect(throws: DatabaseError.self) {
      try await ref.parent?.observeSingleEvent(of: .childRemoved, deadline: .milliseconds(50))
    }
    #expect(event?.kind == .timedOut)
  }

  // Differs: A cancelled task gets
  @Test("An awaited write throws when its task is canceled, and stays queued")
  func cancelledWrite() async throws {
    let station = try await Station()
    let database = try station.open()
    database.goOffline()
    let ref = database.reference(withPath: "a")
    let task = Task { try await ref.setValue(1) }
    task.cancel()
    let error = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(error?.kind == .cancelled)
    database.goOnline()
    let told = Record<Int>()
    let other = try station.open().reference(withPath: "a")
    other.observe(.value) { told.append($0.value as? Int ?? 0) }
    await told.wait { $0.last == 1 }
    #expect(told.elements.last == 1)
  }

  @Test("Options may name a duration of any length", arguments: [Int64.max, .min])
  func durations(_ seconds: Int64) async throws {
    let station = try await Station()
    let duration = Duration.seconds(seconds)
    var options = DatabaseOptions()
    options.maximumReconnectDelay = duration
    options.transactionRetryDelay = duration
    options.patience = max(duration, .seconds(10))
    options.keepaliveInterval = max(duration, .seconds(45))
    options.readDeadline = max(duration, .seconds(60))
    options.writeDeadline = options.readDeadline
    let ref = try station.open(options).reference(withPath: "a")
    try await ref.setValue(1)
    #expect(try await ref.getData().value as? Int == 1)
  }

  @Test("The server's clock may show any time", arguments: [Int64.max, .min])
  func serverClock(_ time: Int64) async throws {
    let server = try await ScriptedServer(timestamp: time)
    let clock = NIOLockedValueBox<Int64>(1_700_000_000_000)
    var options = DatabaseOptions()
    options.clock = {
      clock.withLockedValue { clock in
        clock += 1
        return clock
      }
    }
    let ref = try server.open(options).reference(withPath: "a")
    try await ref.setValue(ServerValue.timestamp())
    #expect(ref.childByAutoId().key?.utf8.count == 20)
    #expect((0...(1 << 48) + 1_000).contains(ref.database.serverTime))
  }

  @Test("Invalid data is reported to the completion as an error with the path")
  func illegalData() async throws {
    let ref = try await Station().open().reference(withPath: "a")
    let key = await #expect(throws: DatabaseError.self) { try await ref.setValue(["x.y": 1]) }
    #expect(key?.kind == .invalidData)
    #expect(key?.path == "/a")
    let type = await #expect(throws: DatabaseError.self) { try await ref.setValue(Date()) }
    #expect(type?.kind == .invalidData)
    let priority = await #expect(throws: DatabaseError.self) { try await ref.setPriority(true) }
    #expect(priority?.kind == .invalidData)
  }

  @Test("Programmer errors trap")
  func traps() async {
    await #expect(processExitsWith: .failure) {
      _ = try Database(url: "http://localhost:1?ns=n").reference(withPath: "a.b")
    }
    await #expect(processExitsWith: .failure) {
      let ref = try Database(url: "http://localhost:1?ns=n").reference()
      _ = ref.queryOrderedByPriority().queryOrderedByKey()
    }
    await #expect(processExitsWith: .failure) {
      let ref = try Database(url: "http://localhost:1?ns=n").reference()
      _ = ref.queryOrderedByKey().queryStarting(atValue: 1)
    }
    await #expect(processExitsWith: .failure) {
      // Creating the reference is not a mistake, since `useEmulator` may follow; using it is.
      let ref = Database.database().reference()
      Database.database().callbackQueue = DispatchQueue(label: "test.callbacks")
      ref.setValue(1)
    }
    await #expect(processExitsWith: .success) {
      let ref = try Database(url: "http://localhost:1?ns=n").reference(withPath: ".info/connected")
      _ = ref.queryOrderedByKey().queryStarting(atValue: "1").queryLimited(toLast: 1)
    }
  }
}
