import RealtimeCore
import TestSupport
import Testing

@Suite("CompoundHash")
struct CompoundHashTests {
  @Test("Empty data has no ranges")
  func empty() {
    let hash = CompoundHash(of: .empty)
    #expect(hash == CompoundHash(posts: [], hashes: [""]))
  }

  @Test(
    "Small data is a single range",
    arguments: [
      (#"{"foo":"bar"}"#, "LmKmJmXugtGlEGoulMbz86myDNw="),
      (#"{"foo":{".value":"bar",".priority":"baz"}}"#, "Pg7xV/cwDhcX65Z5lEn4rKdDmX0="),
    ]
  )
  func oneRange(data: String, expected: String) throws {
    let hash = CompoundHash(of: try Node(text: data))
    #expect(hash == CompoundHash(posts: ["foo"], hashes: [expected, ""]))
  }

  @Test("A new range reopens the path to the next leaf")
  func cut() throws {
    let node = try Node(text: #"{"1":"one","2":"two","10":"ten"}"#)
    let hash = CompoundHash(of: node) { _, path in path() == "2" }
    #expect(
      hash
        == CompoundHash(
          posts: ["2", "10"],
          hashes: ["YkodEihR5l3UXCbbKSqqVp082GU=", "pfduDpANk3ljVHkUt4HdLwrlDao=", ""]
        )
    )
  }

  @Test(
    "The number of ranges grows with the square root of the size",
    arguments: [(500, 6_891, 15, 3), (5_000, 73_891, 50, 5), (50_000, 788_891, 150, 10)]
  )
  func defaultCuts(children: Int, size: Int, ranges: Int, tolerance: Int) {
    let entries = (0..<children).map {
      (key: ChildKey(String($0)), value: Node.string("value"))
    }
    let node = Node(sortedChildren: entries)
    #expect(node.estimatedSize == size)
    #expect(abs(CompoundHash(of: node).hashes.count - ranges) <= tolerance)
  }

  @Test("A priority precedes the next child in key order and is hidden if there is none")
  func priorities() throws {
    let shown = try Node(text: #"{"1":1,"a":2,".priority":3}"#)
    let hidden = try Node(text: #"{"1":1,"-a":2,".priority":3}"#)
    #expect(!shown.hasHiddenPriority)
    #expect(hidden.hasHiddenPriority)
    #expect(CompoundHash(of: hidden) == CompoundHash(of: hidden.withPriority(nil)))
    #expect(CompoundHash(of: shown) != CompoundHash(of: shown.withPriority(nil)))
    let cut = CompoundHash(of: shown) { _, _ in true }
    #expect(cut.posts == ["1", ".priority", "a"])
  }

  @Test("The estimated size counts keys, values and priorities")
  func sizes() throws {
    #expect(Node.empty.estimatedSize == 4)
    #expect(try Node(text: "true").estimatedSize == 4)
    #expect(try Node(text: "1.5").estimatedSize == 8)
    #expect(try Node(text: #""é🐵""#).estimatedSize == 5)
    #expect(try Node(text: #"{".value":1,".priority":"p"}"#).estimatedSize == 8 + 24 + 3)
    #expect(try Node(text: #"{"ab":1,".priority":2}"#).estimatedSize == 1 + 14 + 21)
  }

  @Test("Only large data without hidden priorities is worth a compound hash")
  func worthSending() {
    let small = Node.empty.setting(Path(["a"]), to: .string(String(repeating: "x", count: 1_016)))
    let large = small.setting(Path(["a"]), to: .string(String(repeating: "x", count: 1_017)))
    #expect(small.estimatedSize == 1_024)
    #expect(CompoundHash.worthSending(of: small) == nil)
    #expect(CompoundHash.worthSending(of: large) != nil)
    let hidden = Node.empty.setting(Path(["1"]), to: large[Path(["a"])]).withPriority(.integer(1))
    #expect(CompoundHash.worthSending(of: hidden) == nil)
  }

  @Test("Applying the differing ranges makes the data equal", arguments: 0..<4)
  func differences(part: UInt64) {
    var told = 0
    for seed in 0..<150 {
      var random = SplitMix64(seed: UInt64(seed) * 4 + part)
      let client = Node.random(depth: 4, using: &random)
      var server = random.once(in: 8) ? Node.random(depth: 4, using: &random) : client
      for _ in 0..<random.below(4) {
        let path = Path((0..<(1 + random.below(3))).map { _ in Node.randomKey(using: &random) })
        let node = random.once(in: 3) ? .empty : Node.random(depth: 2, using: &random)
        server.update(at: path, to: node)
      }
      if client.hasHiddenPriority { continue }
      let often = 1 + random.below(4)
      let compound = CompoundHash(of: client) { _, path in
        !path().isPriority && random.once(in: often)
      }
      guard let ranges = compound.changes(to: server) else { continue }
      let result = ranges.reduce(client) { $1.applied(to: $0) }
      #expect(result == server, "seed \(UInt64(seed) * 4 + part)")
      #expect(!ranges.isEmpty || client == server)
      told += ranges.isEmpty ? 0 : 1
    }
    #expect(told > 20)
  }

  @Test("Equal data has no differing ranges; a change affects only its own range")
  func oneDifference() throws {
    let entries = (0..<1_000).map { (key: ChildKey(String($0)), value: Node.string("value")) }
    let node = Node(sortedChildren: entries)
    let compound = CompoundHash(of: node)
    #expect(compound.changes(to: node) == [])
    let changed = node.setting(Path(["500"]), to: .string("other"))
    let ranges = try #require(compound.changes(to: changed))
    #expect(ranges.count == 1)
    #expect(ranges[0].node.childCount < 100)
  }

  @Test("A range with a number that its hash rounds differs")
  func roundedNumber() throws {
    let node = try Node(text: #"{"a":1,"b":9007199254740993,"c":1,"d":1}"#)
    let old = try Node(text: #"{"a":1,"b":9007199254740992,"c":1,"d":2}"#)
    let compound = CompoundHash(of: old) { _, _ in true }
    let ranges = try #require(compound.changes(to: node))
    #expect(ranges.map(\.node.exportText) == [#"{"b":9007199254740993}"#, #"{"d":1}"#])
  }

  @Test("An invalid or inconclusive compound hash falls back to the full data")
  func unusable() throws {
    let node = try Node(text: #"{"a":1,"b":2}"#)
    #expect(CompoundHash(posts: ["b", "a"], hashes: ["x", "y", ""]).changes(to: node) == nil)
    #expect(CompoundHash(posts: ["b"], hashes: ["x"]).changes(to: node) == nil)
    let hidden = try Node(text: #"{"1":1,".priority":2}"#)
    #expect(CompoundHash(of: node).changes(to: hidden) == nil)
    let apart = try Node(text: #"{"a":{"b":1,".priority":2}}"#)
    // A range that contains only a priority cannot be represented.
    #expect(CompoundHash(posts: ["a/.priority"], hashes: ["x", ""]).changes(to: apart) == nil)
    #expect(CompoundHash(posts: ["a/b"], hashes: ["x", ""]).changes(to: apart) != nil)
  }
}
