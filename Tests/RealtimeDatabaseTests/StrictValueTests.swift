import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// Values that the original refuses, where a tree would drop what it cannot represent.
@Suite("Rejected values", .timeLimit(.minutes(1)), .cleansUp)
struct StrictValueTests {
  private static let illegal: [@Sendable () -> Any] = [
    { [".test": 1] },
    { ["a": [".test": 1, "b": 2]] },
    { ["a": [["b": [".info": NSNull()]]]] },
    { ["a.b": NSNull()] },
    { ["": 1] },
    { ["a/b": 1] },
    { [".sv": "timestamp", "a": 1] as [String: Any] },
    { [".sv": "timestamp", ".priority": 1] as [String: Any] },
    { [".value": ["a": 1]] },
    { [".value": [1, 2]] },
    { [".value": [String: Int]()] },
    { [".value": 1, "a": 2] },
    { ["a": 1, ".priority": ["b": 1]] as [String: Any] },
    { ["a": 1, ".priority": [1]] as [String: Any] },
    { ["a": 1, ".priority": true] as [String: Any] },
    { ["a": 1, ".priority": [".sv": "timestamp", "b": 1] as [String: Any]] as [String: Any] },
    { (0..<6_000).reduce(1 as Any) { value, _ in ["a": value] } },
    { (0..<6_000).reduce(1 as Any) { value, _ in [value] } },
  ]

  private func code(_ body: () async throws -> Void) async -> DatabaseError.Kind? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? DatabaseError)?.kind
    }
  }

  @Test("A transaction that assigns what a tree would drop, or where nothing fits, is rejected")
  func places() async throws {
    let ref = try await Station().open().reference(withPath: "place")
    try await ref.setValue(["a": 1], andPriority: 2)
    for place in [".priority/b", ".value", "a.b", "a/.priority/b", "c/.sv", ".priority"] {
      let error = await #expect(throws: DatabaseError.self, "\(place)") {
        try await ref.runTransactionBlock { data in
          data.childData(byAppendingPath: place).value = place == ".priority" ? ["b": 1] : 3
          return .success(withValue: data)
        }
      }
      #expect(error?.kind == .invalidData, "\(place)")
      #expect(error?.path == "/place", "\(place)")
    }
    _ = try await ref.runTransactionBlock { data in
      data.childData(byAppendingPath: ".priority").value = 4
      data.childData(byAppendingPath: "a/.priority").value = ServerValue.timestamp()
      return .success(withValue: data)
    }
    let read = try await ref.getData()
    #expect(read.priority as? Int == 4)
    #expect(read.childSnapshot(forPath: "a").priority is NSNumber)
  }

  // Differs: Data that cannot be stored
  // Differs: Children beside `.value`
  @Test("A value with any unsupported part is rejected, and the existing data stays")
  func values() async throws {
    let ref = try await Station().open().reference(withPath: "place")
    try await ref.setValue(["a": "before"])
    for (number, value) in Self.illegal.enumerated() {
      #expect(await code { try await ref.setValue(value()) } == .invalidData, "value \(number)")
      let update = await code { try await ref.updateChildValues(["a": value()]) }
      #expect(update == .invalidData, "value \(number)")
      let transaction = await code {
        _ = try await ref.runTransactionBlock { data in
          data.value = value()
          return .success(withValue: data)
        }
      }
      #expect(transaction == .invalidData, "value \(number)")
    }
    #expect(try await ref.getData().value as? [String: String] == ["a": "before"])
  }

  @Test(
    "An update key that is not a valid path is rejected",
    arguments: ["", "/", "//", ".foo", "a/.value", ".value", "a.b", "a/\u{1}", "a/.priority/b"]
  )
  func updateKeys(key: String) async throws {
    let ref = try await Station().open().reference(withPath: "place")
    try await ref.setValue(["a": "before"])
    for value in [1, NSNull(), ["x": 1]] as [any Sendable] {
      #expect(await code { try await ref.updateChildValues([key: value]) } == .invalidData)
    }
    #expect(try await ref.getData().value as? [String: String] == ["a": "before"])
  }

  @Test("A decimal is stored as the nearest double, a whole number exactly")
  func decimals() async throws {
    let ref = try await Station().open().reference(withPath: "place")
    let two = try #require(Decimal(string: "2.47"))
    let values: [(any Sendable, Double)] = [
      (two, 2.47), (NSDecimalNumber(decimal: two), 2.47), (CGFloat(0.1), 0.1),
      (Decimal(string: "-0.3") ?? 0, -0.3), (Decimal(12), 12),
      (Decimal(string: "1e-20") ?? 0, 1e-20),
    ]
    for (value, expected) in values {
      try await ref.setValue(value)
      #expect(try await ref.getData().value as? Double == expected)
      try await ref.setValue(["x": value])
      #expect(try await ref.getData().value as? [String: Double] == ["x": expected])
    }
    try await ref.setValue(Decimal(string: "9007199254740993"))
    #expect(try await ref.getData().value as? Int == 9_007_199_254_740_993)
    #expect(await code { try await ref.setValue(Decimal.nan) } == .invalidData)
    #expect(await code { try await ref.setValue(NSDecimalNumber.notANumber) } == .invalidData)
  }

  @Test("A container or a boolean is rejected as a priority")
  func priorities() async throws {
    let ref = try await Station().open().reference(withPath: "place")
    try await ref.setValue(1, andPriority: 2)
    let containers: [Any] = [
      [String: Int](), [Int](), [1], ["a": 1], [".value": 1], true,
      [".sv": "timestamp", "a": 1] as [String: Any],
    ]
    for priority in containers {
      let set = await code { try await ref.setValue(1, andPriority: priority) }
      #expect(set == .invalidData, "\(priority)")
      #expect(await code { try await ref.setPriority(priority) } == .invalidData, "\(priority)")
      let update = await code { try await ref.updateChildValues([".priority": priority]) }
      #expect(update == .invalidData, "\(priority)")
    }
    #expect(try await ref.getData().priority as? Int == 2)
    try await ref.setPriority(ServerValue.timestamp())
    #expect(try await ref.getData().priority as? Double ?? 0 > 1_000)
  }

  @Test("Values in export format are still accepted")
  func legal() async throws {
    let ref = try await Station().open().reference(withPath: "place")
    try await ref.setValue(
      [
        "a": [".value": 1, ".priority": "p"] as [String: Any],
        "b": [".value": [".sv": "timestamp"], ".priority": [".sv": "timestamp"]],
        "c": ["d": 1, ".priority": NSNull()] as [String: Any],
        "e": [".value": NSNull()],
      ] as [String: Any]
    )
    let read = try await ref.getData()
    #expect(read.childSnapshot(forPath: "a").priority as? String == "p")
    #expect(read.childSnapshot(forPath: "b").priority as? Double ?? 0 > 1_000)
    #expect(read.childrenCount == 3)
    try await ref.setValue([".value": 5, ".priority": 6], andPriority: 7)
    #expect(try await ref.getData().priority as? Int == 6)
  }

  // Differs: Keys that are equal as Swift strings
  @Test("Keys that are equal as Swift strings are never merged silently")
  func equalKeys() async throws {
    let ref = try await Station().open().reference(withPath: "u")
    try await ref.updateChildValues(["a/x": 1, "a/e\u{301}": 1, "z": 3])
    try await ref.child("a/\u{e9}").setValue(2)
    let error = await #expect(throws: DatabaseError.self) {
      try await ref.runTransactionBlock { data in
        var value = data.value as? [String: Any] ?? [:]
        value["n"] = 1
        data.value = value
        return .success(withValue: data)
      }
    }
    #expect(error?.kind == .invalidData)
    #expect(error?.reason.contains(#""e\u{0301}" and "\u{00E9}""#) == true)
    let (isCommitted, snapshot) = try await ref.runTransactionBlock { data in
      guard data.value is [String: Any] else { return .success(withValue: data) }
      data.childData(byAppendingPath: "z").value = ["y": 4]
      for child in data.childData(byAppendingPath: "a").childData where child.key != "x" {
        child.value = (child.value as? Int ?? 0) + 10
      }
      return .success(withValue: data)
    }
    #expect(isCommitted)
    let children = snapshot.childSnapshot(forPath: "a").childSnapshots
    #expect(children.map { $0.value as? Int } == [11, 1, 12])
    #expect(throws: DecodingError.self) { try snapshot.data(as: [String: [String: Int]].self) }
    _ = try await ref.runTransactionBlock { data in
      if data.value is [String: Any] { data.value = 5 }
      return .success(withValue: data)
    }
    #expect(try await ref.getData().value as? Int == 5)
  }

  @Test(
    "A container as a bound, or a boolean bound in priority order, is a programmer error",
    arguments: 0..<6
  )
  func bounds(number: Int) async throws {
    await #expect(processExitsWith: .failure) { [number] in
      let ref = try Database(url: "unix:/nonexistent/socket?ns=none").reference(withPath: "list")
      _ =
        switch number {
        case 0: ref.queryOrderedByValue().queryStarting(atValue: [String: Int]())
        case 1: ref.queryOrderedByValue().queryEnding(atValue: [".value": 5])
        case 2: ref.queryOrderedByValue().queryEqual(toValue: [Int]())
        case 3: ref.queryOrdered(byChild: "a").queryStarting(atValue: ServerValue.timestamp())
        case 4: ref.queryOrderedByPriority().queryStarting(atValue: true)
        default: ref.queryEqual(toValue: false)
        }
    }
  }

  @Test("An invalid child path is a programmer error", arguments: ["", "a.b", "a$", ".value"])
  func children(path: String) async throws {
    await #expect(processExitsWith: .failure) { [path] in
      let ref = try Database(url: "unix:/nonexistent/socket?ns=none").reference(withPath: "list")
      _ = DataSnapshot(.empty, at: ref).hasChild(path)
    }
  }

  @Test("An empty path is a programmer error, never the parent", arguments: 0..<3)
  func emptyPaths(number: Int) async throws {
    await #expect(processExitsWith: .failure) { [number] in
      let database = try Database(url: "unix:/nonexistent/socket?ns=none")
      let users = database.reference(withPath: "users")
      switch number {
      case 0: _ = users.child("")
      case 1: _ = database.reference(withPath: "")
      default: _ = DataSnapshot(.empty, at: users).childSnapshot(forPath: "")
      }
    }
  }
}
