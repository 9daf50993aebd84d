import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("The encoding of commits")
struct BinaryCodingTests {
  private func encoded(_ commits: [Commit]) throws -> [UInt8] {
    var writer = BinaryWriter()
    for commit in commits { try writer.write(commit) }
    writer.seal()
    return writer.bytes
  }

  @Test("survives a round trip exactly")
  func roundTrip() throws {
    var model = StoreModel(seed: 1)
    for _ in 0..<300 {
      for commit in model.nextBatch().commits {
        var reader = try BinaryReader(sealed: encoded([commit]))
        let copy = try reader.commit()
        #expect(reader.isAtEnd)
        #expect(copy.revision == commit.revision)
        #expect(copy.timestamp == commit.timestamp)
        #expect(copy.changes.map(\.path) == commit.changes.map(\.path))
        #expect(
          copy.changes.map { exactText($0.node) } == commit.changes.map { exactText($0.node) }
        )
      }
    }
  }

  @Test(
    "encodes integers of every size",
    arguments: [0, 1, -1, 63, 64, -64, -65, .max, .min] as [Int64]
  )
  func integers(value: Int64) throws {
    var writer = BinaryWriter()
    writer.write(integer: value)
    var reader = BinaryReader(writer.bytes[...])
    #expect(try reader.integer() == value)
    #expect(reader.isAtEnd)
  }

  @Test("detects every flipped bit")
  func checksum() throws {
    var model = StoreModel(seed: 2)
    let bytes = try encoded(model.nextBatch().commits)
    for position in bytes.indices.prefix(400) {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << UInt8(bit)
        #expect(throws: BinaryReader.Failure.self) { _ = try BinaryReader(sealed: changed) }
      }
    }
  }

  @Test("never traps while decoding, whatever the bytes", arguments: 1...3 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var model = StoreModel(seed: seed)
    for round in 0..<4_000 {
      var bytes: [UInt8]
      if round % 2 == 0 {
        bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      } else {
        bytes = try encoded(model.nextBatch(commits: 1).commits)
        for _ in 0..<3 {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255,
            using: &random
          )
        }
      }
      var reader = BinaryReader(bytes[...])
      _ = try? reader.commit()
      _ = try? storedNode(bytes)
    }
  }

  @Test("refuses endless nesting")
  func depth() {
    let level: [UInt8] = [NodeTag.children.rawValue, 1, 1, UInt8(ascii: "a")]
    #expect(throws: BinaryReader.Failure.self) {
      _ = try storedNode((0..<100_000).flatMap { _ in level })
    }
  }

  // MARK: Rows

  private func storedNode(_ bytes: [UInt8]) throws -> Node? {
    var reader = BinaryReader(bytes[...])
    var builder = PackedNodeBuilder()
    guard case .packed(let node) = try reader.storedNode(with: &builder) else { return nil }
    return node
  }

  private func written(_ node: Node) throws -> [UInt8] {
    var writer = BinaryWriter()
    try writer.write(node)
    return writer.bytes
  }

  @Test(
    "of a row yields the same node, packed or not",
    arguments: Thoroughness.third(of: 1...3 as ClosedRange<UInt64>)
  )
  func rows(seed: UInt64) throws {
    var model = StoreModel(seed: seed)
    var sizes = (packed: 0, others: 0)
    for _ in 0..<1_000 {
      for change in model.nextBatch(commits: 1).commits.flatMap(\.changes)
      where !change.node.isEmpty {
        let node = try #require(try storedNode(written(change.node)))
        #expect(exactText(node) == exactText(change.node))
        // A map that has shrunk is packed when it is read; packed nodes stay packed.
        if change.node.children?.isPacked == true { #expect(node.children?.isPacked == true) }
        if node.children?.isPacked == true { sizes.packed += 1 } else { sizes.others += 1 }
      }
    }
    #expect(sizes.packed > 50 && sizes.others > 50)
  }

  @Test("of a row preserves what cannot be packed")
  func unpackedRows() throws {
    func children(_ count: Int, of leaf: (Int) -> Node) -> Node {
      Node(sortedChildren: (0..<count).map { (ChildKey(String($0)), leaf($0)) })
    }
    let nodes = [
      children(40) { .integer(Int64($0)) },
      children(20) { _ in .string(String(repeating: "ü", count: 60)) },
      children(2) { .leaf(.double(Double($0)), priority: nil) },
      children(2) { .leaf(.integer(1), priority: $0 == 1 ? Priority(.string("p")) : nil) },
      Node(sortedChildren: [(ChildKey(String(repeating: "k", count: 300)), .bool(true))]),
      Node(
        sortedChildren: [(ChildKey("a"), children(3) { _ in .bool(false) })],
        priority: .integer(1)
      ),
    ]
    for node in nodes {
      let copy = try #require(try storedNode(written(node)))
      #expect(exactText(copy) == exactText(node))
      #expect(copy.children?.isPacked == false)
    }
  }

  @Test("of a row is refused if truncated, out of order or not UTF-8")
  func damagedRows() throws {
    let node = Node(sortedChildren: [
      (ChildKey("a"), .string("text")),
      (
        ChildKey("b"),
        Node(sortedChildren: [(ChildKey("c"), .integer(-300)), (ChildKey("d"), .bool(true))])
      ),
      (ChildKey("e"), .leaf(.double(0.5))),
    ])
    let bytes = try written(node)
    for end in bytes.indices {
      #expect(throws: BinaryReader.Failure.self) { _ = try storedNode(Array(bytes[..<end])) }
    }
    #expect(throws: BinaryReader.Failure.self) { _ = try storedNode(bytes + [0]) }
    let swapped = bytes.map { $0 == UInt8(ascii: "a") ? UInt8(ascii: "f") : $0 }
    #expect { _ = try storedNode(swapped) } throws: { error in
      (error as? BinaryReader.Failure)?.reason == "its keys are out of order"
    }
    let broken = bytes.map { $0 == UInt8(ascii: "x") ? 0xFF : $0 }
    #expect { _ = try storedNode(broken) } throws: { error in
      (error as? BinaryReader.Failure)?.reason == "a text is not valid UTF-8"
    }
  }
}
