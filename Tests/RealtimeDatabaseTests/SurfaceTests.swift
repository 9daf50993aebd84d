import Dispatch
import FirebaseDatabase
import Foundation
import TestSupport
import Testing

/// Every public name that this library shares with the original, used once in the original's
/// spelling.
@Suite("API surface", .timeLimit(.minutes(1)), .cleansUp)
struct SurfaceTests {
  @Test("Every call with a block works offline, and queued writes are canceled")
  func blocks() async throws {
    let database = try await Station().open()
    let codes = Record<String>()
    useDatabase(database)
    database.goOffline()
    useQuery(database.reference(withPath: "list"))
    useReference(database.reference().child("place")) { error, _ in
      codes.append("\((error as? DatabaseError)?.kind.description ?? "none")")
    }
    database.purgeOutstandingWrites()
    let told = await codes.wait(for: 11)
    #expect(told == Array(repeating: "write_canceled", count: 11))
  }

  @Test("Every async call works")
  func awaited() async throws {
    let ref = try await Station().open().reference().child("place")
    let value: Any? = ["a": 1]
    let set: DatabaseReference = try await ref.setValue(value)
    try await ref.setValue(1, andPriority: "p")
    try await ref.setPriority(2)
    let single: DataSnapshot = await ref.observeSingleEvent(of: .value)
    let (pair, previous) = await ref.observeSingleEventAndPreviousSiblingKey(of: .value)
    try await ref.updateChildValues(["b": 2])
    try await ref.onDisconnectSetValue(1)
    try await ref.onDisconnectSetValue(1, andPriority: 2)
    try await ref.onDisconnectUpdateChildValues(["b": 3])
    try await ref.onDisconnectRemoveValue()
    try await ref.cancelDisconnectOperations()
    let (committed, after) = try await ref.runTransactionBlock { data in
      data.value = 5
      return .success(withValue: data)
    }
    let read: DataSnapshot = try await ref.getData()
    try await ref.removeValue()
    #expect(set == ref)
    #expect(single.value as? Int == 1)
    #expect(pair.priority as? Int == 2)
    #expect(previous == nil)
    #expect(committed)
    #expect(after.value as? Int == 5)
    #expect(read.value as? Int == 5)
  }

  private func useDatabase(_ database: Database) {
    database.useEmulator(withHost: "127.0.0.1", port: 1)
    database.isPersistenceEnabled = !database.isPersistenceEnabled
    database.persistenceCacheSizeBytes = database.persistenceCacheSizeBytes * 2
    let queue: DispatchQueue = database.callbackQueue
    database.callbackQueue = queue
    Database.setLoggingEnabled(false)
    let version: String = Database.sdkVersion()
    let root: DatabaseReference = database.reference()
    let url = database.reference(withPath: "a/b c").url
    #expect(database.reference(fromURL: url) == root.child("a").child("b c"))
    #expect(version.split(separator: ".").count == 3)
    database.goOffline()
    database.goOnline()
    DatabaseReference.goOffline()
    DatabaseReference.goOnline()
  }

  private func useQuery(_ query: DatabaseQuery) {
    let handle: DatabaseHandle = query.observe(.value, with: { (_: DataSnapshot) in })
    query.observe(.childAdded) { _ in }
    query.observe(.childChanged, with: { _ in }, withCancel: { (_: Error) in })
    query.observe(.childMoved, andPreviousSiblingKeyWith: { (_: DataSnapshot, _: String?) in })
    query.observe(.childRemoved, andPreviousSiblingKeyWith: { _, _ in }, withCancel: nil)
    query.observe(.value) { _ in
    } withCancel: { _ in
    }
    query.observeSingleEvent(of: .value, with: { _ in })
    query.observeSingleEvent(of: .value, with: { _ in }, withCancel: { _ in })
    query.observeSingleEvent(of: .value, andPreviousSiblingKeyWith: { _, _ in })
    query.observeSingleEvent(of: .value, andPreviousSiblingKeyWith: { _, _ in }, withCancel: nil)
    query.getData(completion: { (_: Error?, _: DataSnapshot?) in })
    query.keepSynced(true)
    query.keepSynced(false)
    query.removeObserver(withHandle: handle)
    let queries: [DatabaseQuery] = [
      query.queryLimited(toFirst: 1), query.queryLimited(toLast: 1),
      query.queryOrdered(byChild: "a/b"), query.queryOrderedByKey(), query.queryOrderedByValue(),
      query.queryOrderedByPriority(), query.queryStarting(atValue: 1),
      query.queryStarting(atValue: 1, childKey: "k"), query.queryStarting(afterValue: 1),
      query.queryStarting(afterValue: 1, childKey: "k"), query.queryEnding(atValue: 1),
      query.queryEnding(atValue: 1, childKey: "k"), query.queryEnding(beforeValue: 1),
      query.queryEnding(beforeValue: 1, childKey: "k"), query.queryEqual(toValue: nil),
      query.queryEqual(toValue: 1, childKey: "k"),
    ]
    #expect(Set(queries).count == 16)
    #expect(queries.allSatisfy { $0.ref == query.ref })
    query.removeAllObservers()
  }

  private func useReference(
    _ ref: DatabaseReference,
    _ done: @escaping DatabaseReference.Completion
  ) {
    let parts: [Any?] = [ref.key, ref.parent, ref.root, ref.url, ref.database, ref.description]
    #expect(parts.count { $0 == nil } == 0)
    ref.setValue(1)
    ref.setValue(1, withCompletionBlock: done)
    ref.setValue(1, andPriority: 1)
    ref.setValue(1, andPriority: 1, withCompletionBlock: done)
    ref.setPriority("p")
    ref.setPriority("p", withCompletionBlock: done)
    ref.updateChildValues(["a": 1])
    ref.updateChildValues(["a": 1], withCompletionBlock: done)
    ref.removeValue()
    ref.removeValue(completionBlock: done)
    ref.onDisconnectSetValue(1)
    ref.onDisconnectSetValue(1, withCompletionBlock: done)
    ref.onDisconnectSetValue(1, andPriority: 1)
    ref.onDisconnectSetValue(1, andPriority: 1, withCompletionBlock: done)
    ref.onDisconnectRemoveValue()
    ref.onDisconnectRemoveValue(completionBlock: done)
    ref.onDisconnectUpdateChildValues(["a": 1])
    ref.onDisconnectUpdateChildValues(["a": 1], withCompletionBlock: done)
    ref.cancelDisconnectOperations()
    ref.cancelDisconnectOperations(completionBlock: done)
    let other = ref.root.child("other")
    other.runTransactionBlock { (data: MutableData) in TransactionResult.success(withValue: data) }
    other.runTransactionBlock({ useData($0) }, andCompletionBlock: { _, _, _ in })
    other.runTransactionBlock({ _ in .abort() }, andCompletionBlock: nil, withLocalEvents: false)
    ref.childByAutoId().setValue(ServerValue.timestamp()) { _, _ in }
    other.child("n").setValue(ServerValue.increment(NSNumber(value: 1.5))) { error, ref in
      done(error, ref)
    }
  }

  @Sendable private func useData(_ data: MutableData) -> TransactionResult {
    data.value = ["a": 1, "b": ["c": true]] as [String: Any]
    data.priority = 1
    let child: MutableData = data.childData(byAppendingPath: "b/c")
    let enumerator: NSEnumerator = data.children
    let isWhole =
      data.hasChildren() && data.hasChild(atPath: "b/c") && data.childrenCount == 2
      && data.key == nil && child.key == "c" && child.value as? Bool == true
      && data.priority as? Int == 1 && enumerator.allObjects.count == 2
    return isWhole ? .success(withValue: data) : .abort()
  }

  @Test("A snapshot provides all its properties")
  func snapshot() async throws {
    let ref = try await Station().open().reference().child("place")
    try await ref.setValue(["a": 1, "b": ["c": true]], andPriority: 3)
    let snapshot = try await ref.getData()
    let children: NSEnumerator = snapshot.children
    let exported = snapshot.valueInExportFormat() as? [String: Any]
    #expect(snapshot.ref == ref)
    #expect(snapshot.key == "place")
    #expect(snapshot.childrenCount == 2)
    #expect(snapshot.exists())
    #expect(snapshot.hasChildren())
    #expect(snapshot.hasChild("b/c"))
    #expect(snapshot.childSnapshot(forPath: "b/c").value as? Bool == true)
    #expect(snapshot.priority as? Int == 3)
    #expect(exported?[".priority"] as? Int == 3)
    #expect(children.allObjects.count == 2)
    #expect(snapshot.childSnapshot(forPath: "none").value is NSNull)
    #expect(DataEventType.value.rawValue == 4)
  }

  @Test("The default database is the configured one and is found by its URL")
  func instances() async throws {
    let station = try await Station()
    try Database.configure(url: station.url)
    let database = Database.database()
    #expect(database === Database.database(url: station.url))
    #expect(database.reference().database === database)
    database.goOffline()
  }

  @Test("Exclusive bounds are sent as the original sends them")
  func exclusiveBounds() throws {
    let ref = try Database(url: "http://localhost:1?ns=n").reference(withPath: "list")
    let queries = [
      ref.queryOrderedByValue().queryStarting(afterValue: 5),
      ref.queryEnding(beforeValue: 5).queryOrderedByValue(),
      ref.queryOrderedByValue().queryEnding(beforeValue: 5, childKey: "k"),
      ref.queryStarting(afterValue: "k").queryOrderedByKey(),
    ]
    #expect(
      queries.map(\.description) == [
        #"(/list {"sp":5,"sn":"[MAX_NAME]","sin":false,"i":".value"})"#,
        #"(/list {"ep":5,"en":"[MIN_NAME]","ein":false,"i":".value"})"#,
        #"(/list {"ep":5,"en":"k","ein":false,"i":".value"})"#,
        #"(/list {"sp":"k","sin":false,"i":".key"})"#,
      ]
    )
  }
}
