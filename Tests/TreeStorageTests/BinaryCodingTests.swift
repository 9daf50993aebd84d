import RealtimeCore
import RealtimeHub
import StoreTestSupport
import TestSupport
import Testing

@testable import TreeStorage

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
    "holds whole numbers of every size",
    arguments: [0, 1, -1, 63, 64, -64, -65, .max, .min] as [Int64]
  )
  func integers(value: Int64) throws {
    var writer = BinaryWriter()
    writer.write(integer: value)
    var reader = BinaryReader(writer.bytes)
    #expect(try reader.integer() == value)
    #expect(reader.isAtEnd)
  }

  @Test("shows every changed bit")
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

  @Test("is never a trap to read, whatever the bytes", arguments: 1...3 as ClosedRange<UInt64>)
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
      var reader = BinaryReader(bytes)
      _ = try? reader.commit()
      reader = BinaryReader(bytes)
      _ = try? reader.storedNode()
    }
  }

  @Test("refuses nesting without end")
  func depth() {
    let level: [UInt8] = [NodeTag.children.rawValue, 1, 1, UInt8(ascii: "a")]
    var reader = BinaryReader((0..<100_000).flatMap { _ in level })
    #expect(throws: BinaryReader.Failure.self) { _ = try reader.storedNode() }
  }
}
