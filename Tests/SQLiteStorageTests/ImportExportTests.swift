import Foundation
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Store export and import")
struct ImportExportTests {
  private let directory: TemporaryDirectory
  private let store: SQLiteTreeStore

  init() throws {
    directory = try TemporaryDirectory()
    store = try SQLiteTreeStore(directory: directory.store, now: 0)
  }

  private func text(_ directory: TemporaryDirectory, _ layout: ExportLayout) throws -> String {
    var text = ""
    try StoreFile(at: directory.store).export(layout) { text += $0 }
    return text
  }

  private func tokenizer(_ text: String) -> JSONTokenizer {
    var rest = Array(text.utf8)[...]
    return JSONTokenizer {
      let piece = rest.prefix(1_000)
      rest = rest.dropFirst(piece.count)
      return Array(piece)
    }
  }

  /// Whether an import in these tests merges the entries of a path: the root and two levels below
  /// "b".
  private static func isMerged(_ path: Path) -> Bool {
    path.count < 2 || (path.count == 2 && path.first == "b")
  }

  /// The result of a merging import into a tree, according to the definition of its mode.
  private func merged(_ json: JSONValue, into root: Node, at path: Path = .root) throws -> Node {
    guard Self.isMerged(path), let members = json.members else {
      return root.setting(path, to: try Node(json: json))
    }
    if let value = json[".value"], value != .null {
      return root.setting(path, to: try Node(json: json))
    }
    var root = root
    for member in members where !member.name.hasPrefix(".") {
      root = try merged(member.value, into: root, at: path.appending(ChildKey(member.name)))
    }
    if let priority = try json[".priority"].flatMap({ try Node.priorityValue($0) }) {
      root.update(at: path.appending(.priority), to: .leaf(priority))
    }
    return root
  }

  @Test(
    "round-trip the tree, with or without unfolded commits",
    arguments: Thoroughness.third(of: 1...8 as ClosedRange<UInt64>)
  )
  func roundTrip(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    var random = SplitMix64(seed: seed)
    for _ in 0..<25 {
      try store.commit(model.nextBatch())
      if Int.random(in: 0..<4, using: &random) == 0 { try store.fold() }
      for layout in [ExportLayout.oneLine, .lines] {
        let json = try JSONParser.parse(try text(directory, layout))
        #expect(try Node(json: json) == model.root)
      }
    }
    let exported = try text(directory, .oneLine)
    try store.close()
    #expect(try text(directory, .oneLine) == exported)

    let copy = try TemporaryDirectory()
    let other = try SQLiteTreeStore(directory: copy.store, now: 0)
    var json = tokenizer(exported)
    #expect(try other.importTree(&json, mode: .replacing).revision == 1)
    let root = try other.load().root
    // The text contains neither the sign of a zero nor the kind of a whole number.
    #expect(root == model.root)
    try other.close()
    #expect(try StoreFile(at: copy.store).check().faults == [])
    #expect(try Node(json: JSONParser.parse(text(copy, .oneLine))) == model.root)
  }

  @Test(
    "change the store as they would change the tree in memory",
    arguments: Thoroughness.third(of: 1...40 as ClosedRange<UInt64>)
  )
  func merging(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    var other = StoreModel(seed: seed + 1_000)
    for _ in 0..<12 { try store.commit(model.nextBatch()) }
    for _ in 0..<8 { _ = other.nextBatch() }
    for round in 0..<3 {
      let json = other.history[other.history.count - 1 - 4 * round].json(.export)
      guard round == 2 || json.members != nil && json[".value"] == nil else { continue }
      let before = try store.load()
      let mode: ImportMode =
        round == 2 ? .replacing : .merging(below: { Self.isMerged($0) })
      let expected =
        round == 2 ? try Node(json: json) : try merged(json, into: before.root)
      var text = tokenizer(json.text)
      let outcome = try store.importTree(&text, mode: mode)
      let after = try store.load()
      #expect(after.root == expected)
      #expect(after.revision == before.revision + 1)
      #expect(outcome.revision == after.revision)
      #expect(after.ledger == before.ledger)
      #expect(try StoreFile(at: directory.store).check().faults == [])
    }
    try store.close()
    let again = try SQLiteTreeStore(directory: directory.store, now: 0)
    let revision = try again.load().revision
    try again.commit(revision + 1, Change("z", to: .integer(1)))
    #expect(try again.load().root[ChildKey("z")] == .integer(1))
    try again.close()
  }

  @Test("refuse to add a single value in the place of everything")
  func singleValue() throws {
    try store.commit(1, Change("a", to: .integer(1)))
    for text in ["5", "{\".value\":5}", "{\".priority\":1,\".value\":5}"] {
      var json = tokenizer(text)
      let mode = ImportMode.merging { Self.isMerged($0) }
      #expect(throws: ImportError.self) { try store.importTree(&json, mode: mode) }
    }
    #expect(try store.load().root[ChildKey("a")] == .integer(1))
    try store.close()
  }

  @Test(
    "refuse a duplicate member and name both positions, whatever its size",
    arguments: [(2, 2), (2, 900), (900, 2), (900, 900)]
  )
  func duplicates(first: Int, second: Int) throws {
    func object(_ length: Int, _ name: String) -> String {
      let long = String(repeating: "x", count: length)
      return "{\"\(name)\":\"\(long)\",\"s\":{\"\(name)\":1}}"
    }
    let many = (0..<20).map { "\"\($0 * 7 % 20 + 10)\":1" }.joined(separator: ",")
    for text in [
      "{\"p\":{\"a\":\(object(first, "m")),\"b\":1,\n\"a\":\(object(second, "n"))}}",
      "{\"p\":{\"a\":\(object(first, "m"))},\n\"p\":{\"b\":\(object(second, "n"))}}",
      "{\"p\":{\(many),\"a\":\"\(object(first, "m").count)\",\n\"17\":1}}",
    ] {
      for mode in [ImportMode.replacing, .merging(below: { $0.count < 2 })] {
        let directory = try TemporaryDirectory()
        let store = try SQLiteTreeStore(directory: directory.store, now: 0)
        var json = tokenizer(text)
        let error = #expect(throws: ImportError.self) { try store.importTree(&json, mode: mode) }
        #expect(error?.reason.contains("a second time, after line 1, byte") == true)
        #expect(json.place.description == "line 2, byte 1")
        #expect(try store.load().root == .empty)
        try store.close()
      }
    }
  }

  @Test("take no longer for entries next to a long value")
  func longValue() throws {
    func steps(length: Int) throws -> Duration {
      let long = String(repeating: "x", count: length)
      var text = "{\"posts\":{\"z\":\"\(long)\""
      for number in 0..<3_000 { text += ",\"k\(number)\":{\"title\":\"t\"}" }
      let directory = try TemporaryDirectory()
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      var json = tokenizer(text + "}}")
      let start = processorTime()
      let result = try store.importTree(&json, mode: .merging(below: { $0.count < 2 }))
      let time = processorTime() - start
      #expect(result.replacedCount == 3_001)
      #expect(try store.load().root[Path(wire: "posts/z")] == .leaf(.string(long)))
      #expect(try StoreFile(at: directory.store).check().faults == [])
      try store.close()
      return time
    }
    let (short, long) = (try steps(length: 100), try steps(length: 2_000_000))
    // With the long value read for each entry, it would take more than ten times as long.
    #expect(long < short * 4 + .seconds(1), "\(short) and \(long)")
  }

  @Test("replace earlier commits, including those not yet folded")
  func unfolded() throws {
    // This many are handed over at once.
    let changes = (0..<5_000).map { Change(Path(wire: "a/\($0)"), to: .integer(1)) }
    try store.commit(1, changes)
    var json = tokenizer(#"{"b":2}"#)
    #expect(try store.importTree(&json, mode: .replacing).revision == 2)
    try store.commit(3, Change("c", to: .integer(3)))
    try store.fold()
    #expect(try store.load().root == Node(json: JSONParser.parse(#"{"b":2,"c":3}"#)))
    try store.close()
  }

  @Test("leave no priority on a node that has become empty")
  func emptied() throws {
    let long = String(repeating: "x", count: 900)
    var json = tokenizer(#"{"p":{"a":"\#(long)",".priority":1},"q":1}"#)
    _ = try store.importTree(&json, mode: .replacing)
    let nothing = (0..<9).map { "\"\($0)\(long.prefix(100))\":null" }.joined(separator: ",")
    json = tokenizer("{\"p\":{\"a\":{\(nothing)}}}")
    _ = try store.importTree(&json, mode: .merging(below: { $0.count < 2 }))
    #expect(try store.load().root == Node(json: JSONParser.parse(#"{"q":1}"#)))
    #expect(try StoreFile(at: directory.store).check().faults == [])
    try store.close()
  }

  @Test("read arrays and special members, after a byte order mark")
  func arrays() throws {
    let text = #"{"a":[null,"x",[1,{"b":2}]],"c":{".value":3,".priority":4}}"#
    var json = tokenizer("\u{FEFF}" + text)
    _ = try store.importTree(&json, mode: .replacing)
    #expect(try store.load().root == Node(json: JSONParser.parse(text)))
    try store.close()
  }

  @Test(
    "leave the store unchanged when the input is invalid",
    arguments: [
      #"{"a":1,"b":"#, #"{"a":1}x"#, #"{"a":1,"b":{"c/d":1}}"#, #"{"a":1,"b":{".sv":"timestamp"}}"#,
      #"{"a":1,"":2}"#, #"{"a":1,"b":{".priority":true,"c":1}}"#, #"{"a":1,"b":{".value":{}}}"#,
      #"{"":null}"#, #"{"/":1}"#, #"{"b":{"":{"c":1}}}"#, #"{"b/c":1}"#, #"{".foo":1}"#,
      #"{"b":{".info":null}}"#, #"{".key":1}"#, #"{"b":{".value":1,"c":2}}"#, #"{"a.b":{}}"#,
      #"{"b":{"c":2,".value":1,".priority":3}}"#, #"{"b":{"\u0000":1}}"#, #"{"b":{"\ud83d":1}}"#,
    ]
  )
  func refusals(text: String) throws {
    var model = StoreModel(seed: 4)
    for _ in 0..<10 { try store.commit(model.nextBatch()) }
    for mode in [ImportMode.replacing, .merging(below: { $0.count < 2 })] {
      let long = String(repeating: "x", count: 50_000)
      var json = tokenizer(#"{"x":{"y":"\#(long)"},"# + text.dropFirst())
      #expect(throws: (any Error).self) { try store.importTree(&json, mode: mode) }
      let tree = try store.load()
      #expect(exactText(tree.root) == exactText(model.root))
      #expect(tree.revision == model.revision)
    }
    try store.commit(model.nextBatch())
    #expect(exactText(try store.load().root) == exactText(model.root))
    try store.close()
  }

  @Test("merge nothing but an object", arguments: ["[1]", "1", "null"])
  func notAnObject(text: String) throws {
    try store.commit(1, Change("a", to: .integer(1)))
    var json = tokenizer(text)
    #expect(throws: ImportError.self) {
      try store.importTree(&json, mode: .merging(below: { $0.count < 2 }))
    }
    #expect(try store.load().root[ChildKey("a")] == .integer(1))
    try store.close()
  }

  @Test("yield and accept null for an empty store")
  func empty() throws {
    #expect(try text(directory, .lines) == "null\n")
    var json = tokenizer("null")
    _ = try store.importTree(&json, mode: .replacing)
    #expect(try store.load().root == .empty)
    try store.close()
    try directory.writeDatabase([])
    // The store had a commit, which is missing by now.
    #expect(throws: StoreError.self) { try text(directory, .oneLine) }
    try FileManager.default.removeItem(atPath: directory.database + "-mark")
    #expect(try text(directory, .oneLine) == "null\n")
  }

  @Test("write conventional line breaks and indentation")
  func layout() throws {
    let text = #"{"a":{"b":1,".priority":2},"c":{".value":"x",".priority":3}}"#
    var json = tokenizer(text)
    _ = try store.importTree(&json, mode: .replacing)
    try store.close()
    #expect(try self.text(directory, .oneLine) == text + "\n")
    let lines = """
      {
        "a": {
          "b": 1,
          ".priority": 2
        },
        "c": {
          ".value": "x",
          ".priority": 3
        }
      }

      """
    #expect(try self.text(directory, .lines) == lines)
  }

  @Test("see one consistent snapshot while commits continue")
  func consistency() throws {
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      for number in 1...400 as ClosedRange<Int64> {
        let changes = [
          Change("left", to: .integer(number)), Change("right/x", to: .integer(number)),
        ]
        try? store.commit(number, changes)
        if number % 50 == 0 { try? store.fold() }
      }
      end.signal()
    }
    var seen: Set<Int64> = []
    repeat {
      let json = try JSONParser.parse(try text(directory, .oneLine))
      guard let left = json["left"]?.integer else { continue }
      #expect(json["right"]?["x"]?.integer == left)
      seen.insert(left)
    } while end.wait(timeout: .now()) == .timedOut
    #expect(!seen.isEmpty)
    #expect(try store.load().revision == 400)
    try store.close()
  }

  @Test("next to long values, old or new, change the store as they would change the tree")
  func longValues() throws {
    let long = String(repeating: "long ", count: 8_000)
    var members = (0..<40).map { JSONMember("k\($0)", .string("\($0)" + long)) }
    members += (0..<40).map { JSONMember("s\($0)", .string("short")) }
    var tree = try Node(json: .object([JSONMember("a", .object(members))]))
    try store.commit(1, Change(.root, to: tree))
    // Out of order, so that rows are searched for one by one: long values become short, short ones
    // long, some become objects, some vanish, and others are new.
    var texts: [String] = []
    for number in (0..<400).reversed() {
      let key = number % 2 == 0 ? "k\(number % 80)" : "s\(number)"
      let value: String =
        switch number % 5 {
        case 0: "\"\(number)\(long)\""
        case 1: "\(number)"
        case 2: "{\"x\":\"\(long)\",\"y\":{\"z\":\(number)}}"
        case 3: "{\".value\":\"\(long)\",\".priority\":\(number)}"
        default: "null"
        }
      texts.append("{\"a\":{\"\(key)\":\(value)},\"b\":{\"n\(number)\":\(number)}}")
    }
    let all = texts.map { $0.dropFirst().dropLast() }
    for group in [all[0...], all[..<7]] {
      var object: [String: [String]] = ["a": [], "b": []]
      var seen: Set<Substring> = []
      for text in group {
        let parts = text.split(separator: "},\"b\":{", maxSplits: 1)
        let (a, b) = (parts[0].dropFirst(5), parts[1].dropLast())
        let key = a.prefix { $0 != ":" }
        guard seen.insert(key).inserted else { continue }
        object["a"]?.append(String(a))
        object["b"]?.append(String(b))
      }
      let text =
        "{\"a\":{\((object["a"] ?? []).joined(separator: ","))},\"b\":{\((object["b"] ?? []).joined(separator: ","))}}"
      var json = tokenizer(text)
      _ = try store.importTree(&json, mode: .merging(below: { $0.count < 2 }))
      for member in try JSONParser.parse(text).members ?? [] {
        for entry in member.value.members ?? [] {
          let path = Path([ChildKey(member.name), ChildKey(entry.name)])
          tree = tree.setting(path, to: try Node(json: entry.value))
        }
      }
      #expect(try store.load().root == tree)
      #expect(try StoreFile(at: directory.store).check().faults == [])
    }
    try store.close()
    #expect(try StoreFile(at: directory.store).check().faults == [])
  }
}
