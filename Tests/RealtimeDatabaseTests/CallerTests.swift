import Dispatch
import FirebaseDatabase
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// Text from outside the program in paths and keys, and mistakes of the program.
@Suite("Callers and external input", .timeLimit(.minutes(1)), .cleansUp)
struct CallerTests {
  private func root() throws -> DatabaseReference {
    try Database(url: "http://localhost:9000?ns=a").reference()
  }

  private static let invalid = [
    "a.b", "a#", "$a", "a[0]", "a]", "line\nbreak", "\u{7F}", "", "/", "a//b", "a/", "//a",
    String(repeating: "k", count: 800), Array(repeating: "d", count: 40).joined(separator: "/"),
  ]

  // Differs: Control characters in keys
  @Test("An invalid external path throws an error with a reason", arguments: Self.invalid)
  func invalidPath(path: String) throws {
    let root = try root()
    let errors = [
      #expect(throws: DatabaseError.self) { try root.child("users").child(validating: path) },
      #expect(throws: DatabaseError.self) { try root.queryOrdered(validatingChild: path) },
      #expect(throws: DatabaseError.self) {
        try DataSnapshot(.empty, at: root).childSnapshot(validating: path)
      },
    ]
    for error in errors {
      #expect(error?.kind == .invalidData)
      #expect(error?.reason.isEmpty == false)
    }
  }

  @Test("A valid external path leads to the same location as a literal one")
  func validPath() throws {
    let root = try root()
    for path in ["a", "a/b", "/a/b", "ä ö", "a%2Eb", "12"] {
      #expect(try root.child(validating: path) == root.child(path))
      let ordered = try root.queryOrdered(validatingChild: path)
      #expect(ordered == root.queryOrdered(byChild: path))
    }
    #expect(root.queryOrdered(byChild: "a/") == root.queryOrdered(byChild: "a"))
  }

  @Test("A slash is the location itself, as in the original")
  func slash() throws {
    let root = try root()
    let snapshot = DataSnapshot(.integer(1), at: root.child("a"))
    #expect(root.child("a").child("/") == root.child("a"))
    #expect(snapshot.childSnapshot(forPath: "/") == snapshot)
    #expect(snapshot.hasChild("/"))
    #expect(!DataSnapshot(.empty, at: root).hasChild("/"))
  }

  @Test(
    "An external URL that is invalid or of another database throws an error",
    arguments: ["nonsense", "https://other.firebaseio.com/a", "http://localhost:9000/a.b?ns=a"]
  )
  func invalidURL(url: String) throws {
    let database = try Database(url: "http://localhost:9000?ns=a")
    let error = #expect(throws: DatabaseError.self) {
      try database.reference(validatingURL: url)
    }
    #expect(error?.kind == .invalidData)
    let valid = try database.reference(validatingURL: "http://localhost:9000/a/b?ns=a")
    #expect(valid == database.reference(withPath: "a/b"))
  }

  @Test("Every string has a unique escaped key that unescapes to the string")
  func escapes() throws {
    let texts = [
      "", "%", "%%", "%2E", ".", "ann@example.org", "a/b", "#$[]/.%", "\u{0}\u{1F}\u{7F}", "é ~",
      "👩‍👩‍👧", "12", " ", "%25", "%zz", ".info", ".priority", "e\u{301}", "é",
    ]
    var keys: Set<[UInt8]> = []
    for text in texts {
      let key = Database.escapedKey(text)
      #expect(Database.isValidKey(key), "\(text)")
      #expect(Array(Database.unescapedKey(key).utf8) == Array(text.utf8), "\(text)")
      #expect(try root().child(validating: key).key == key)
      keys.insert(Array(key.utf8))
    }
    #expect(keys.count == texts.count)
    #expect(Database.escapedKey("ann@example.org") == "ann@example%2Eorg")
    #expect(Database.unescapedKey("100%") == "100%")
    #expect(!Database.isValidKey(Database.escapedKey(String(repeating: ".", count: 300))))
    #expect(!Database.isValidKey("a/b") && !Database.isValidKey("") && Database.isValidKey("%2E"))
  }

  // Differs: Mistakes in the program
  @Test("A programmer error traps, and the message names the throwing alternative")
  func messages() async throws {
    let child = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = try Database(url: "http://localhost:9000?ns=a").reference().child("users/a.b")
    }
    #expect(Self.text(child).contains("'.'"))
    #expect(Self.text(child).contains("child(validating:)"))
    let order = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = try Database(url: "http://localhost:9000?ns=a").reference().queryOrdered(byChild: "a.b")
    }
    #expect(Self.text(order).contains("queryOrdered(validatingChild:)"))
    let limit = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = try Database(url: "http://localhost:9000?ns=a").reference().queryLimited(toFirst: 0)
    }
    #expect(Self.text(limit).contains("a limit must be 1 to "))
    for host in ["http://localhost", "127.0.0.1:9000", "[::1]", ""] {
      let emulator = await #expect(
        processExitsWith: .failure,
        observing: [\.standardErrorContent]
      ) { [host = host as String] in
        try Database(url: "http://localhost:9000?ns=a").useEmulator(withHost: host, port: 9_000)
      }
      #expect(Self.text(emulator).contains("\"\(host)\" is not a host"))
    }
    try Database(url: "http://localhost:9000?ns=a").useEmulator(withHost: "::1", port: 9_000)
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  // Differs: ``Database/useEmulator
  @Test("Persistence can be configured until the first reference; its size is validated at once")
  func persistence() async {
    await #expect(processExitsWith: .success) {
      let database = try Database(url: "http://localhost:9000?ns=a")
      database.persistenceCacheSizeBytes = 1_048_576
      database.persistenceCacheSizeBytes = 104_857_600
      database.isPersistenceEnabled = false
      database.callbackQueue = DispatchQueue(label: "test.callers")
      _ = database.reference()
      database.callbackQueue = DispatchQueue(label: "test.callers")
    }
    for size in [0, 1_048_575, 104_857_601] as [UInt] {
      await #expect(processExitsWith: .failure) { [size = size as UInt] in
        try Database(url: "http://localhost:9000?ns=a").persistenceCacheSizeBytes = size
      }
    }
    await #expect(processExitsWith: .failure) {
      let database = try Database(url: "http://localhost:9000?ns=a")
      _ = database.reference(withPath: "a")
      database.persistenceCacheSizeBytes = 1_048_576
    }
    await #expect(processExitsWith: .failure) {
      let database = try Database(url: "http://localhost:9000?ns=a")
      _ = database.reference(fromURL: "http://localhost:9000/a")
      database.isPersistenceEnabled = true
    }
  }

  // Differs: Writes below `.info`
  @Test("Every write below .info fails with the same error, and no transaction block runs")
  func info() async throws {
    let root = try await Station().open().reference()
    let info = root.child(".info/connected")
    let refused: [@Sendable () async throws -> Void] = [
      { try await info.setValue(true) }, { try await info.setValue(true, andPriority: 1) },
      { try await info.removeValue() }, { try await info.setPriority(1) },
      { try await info.updateChildValues(["a": 1]) },
      { try await info.parent?.setValue(nil) },
      { try await root.updateChildValues(["x": 1, ".info/connected": true]) },
      { try await root.updateChildValues(["x": 1, ".info": ["a": 1]]) },
      { try await info.onDisconnectSetValue(1) }, { try await info.onDisconnectRemoveValue() },
      { try await info.onDisconnectUpdateChildValues(["a": 1]) },
      { try await info.cancelDisconnectOperations() },
      { try await info.setValue(from: ["a": 1]) },
      {
        _ = try await info.runTransactionBlock {
          Issue.record("a transaction below .info has run")
          return .success(withValue: $0)
        }
      },
    ]
    for write in refused {
      let error = await #expect(throws: DatabaseError.self) { try await write() }
      #expect(error?.kind == .invalidData)
      #expect(error?.reason == "/.info cannot be written")
    }
    #expect(try await root.getData().exists() == false)
  }

  @Test("A transaction and a set made before the first connection reach the server in order")
  func transactionThenSet() async throws {
    let ref = try await Station().open().reference(withPath: "count")
    let told = Record<String>()
    ref.database.goOffline()
    func write() {
      ref.runTransactionBlock({ data in
        data.value = (data.value as? Int ?? 0) + 1
        return .success(withValue: data)
      }) { error, isCommitted, _ in
        told.append("transaction \(error == nil) \(isCommitted)")
      }
      ref.setValue(5) { error, _ in told.append("set \(error == nil)") }
    }
    write()
    ref.database.goOnline()
    #expect(await told.wait(for: 2) == ["transaction true true", "set true"])
    #expect(try await ref.getData().value as? Int == 5)
  }

  @Test("A block with a nonoptional snapshot gets an empty one on error")
  func readFailure() async throws {
    let database = try Database(url: "http://127.0.0.1:1?ns=a")
    database.callbackQueue = DispatchQueue(label: "test.callers")
    database.goOffline()
    let told = Record<String>()
    database.reference(withPath: "a").getData { (error: (any Error)?, snapshot: DataSnapshot) in
      told.append("\(error == nil) \(snapshot.exists()) \(snapshot.key)")
    }
    #expect(await told.wait(for: 1) == ["false false a"])
  }
}
