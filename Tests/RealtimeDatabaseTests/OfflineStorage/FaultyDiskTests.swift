import FaultyStorage
import Foundation
import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("SQLiteOfflineStore on a faulty disk", .timeLimit(.minutes(1)))
struct FaultyDiskTests {
  private func file(in directory: TemporaryDirectory) -> OfflineFile {
    OfflineFile(directory: directory.file("d"), identity: "http://h:1?ns=n")
  }

  /// The numbers of the writes that survive a power loss.
  private func numbers(in files: [String: [UInt8]]) throws -> [Int64] {
    let image = try TemporaryDirectory()
    let file = file(in: image)
    try file.create()
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: image.file("d/" + name)))
    }
    let told = Told()
    let (store, state) = try SQLiteOfflineStore.open(file, observers: told.observers)
    store.close()
    #expect(told.problems.isEmpty)
    return state.writes.map(\.number)
  }

  /// Expects the first writes to survive a power loss, whatever else was lost.
  private func expectKept(
    _ count: Int,
    on disk: FaultyDisk,
    using random: inout SplitMix64,
    _ situation: String
  ) throws {
    for chance in [0, 1, 2] {
      let files = disk.filesAfterPowerLoss { Int.random(in: 0..<2, using: &random) < chance }
      let found = try numbers(in: files)
      #expect(
        found.prefix(count) == ArraySlice((0..<count).map { Int64($0) + 1 }),
        "\(situation), \(chance) of 2 writes are kept"
      )
    }
  }

  @Test(
    "A failure with unknown outcome is reported once, and the file is not touched again",
    arguments: [DiskFault.Kind.sync, .write]
  )
  func failure(kind: DiskFault.Kind) async throws {
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    try file.create()
    let disk = FaultyDisk(directory: directory.file("d"))
    let told = Told()
    let store = try SQLiteOfflineStore.open(file, observers: told.observers).store
    store.perform([.saveWrite(StoredWrite(1)), .replace(query: 1, .integer(1))])
    #expect(await store.flush() == nil)
    disk.fail(DiskFault(kind, at: 1, times: 1))
    store.perform([.saveWrite(StoredWrite(2))])
    #expect(await store.flush()?.kind == .unavailable)
    store.perform([.saveWrite(StoredWrite(3))])
    #expect(await store.flush()?.kind == .unavailable)
    #expect(store.data(of: 1) == nil)
    #expect(told.problems.map(\.kind) == [.unavailable])
    store.close()
    disk.repair()
    let (next, state) = try SQLiteOfflineStore.open(file, observers: told.observers)
    #expect(state.writes.prefix(1) == [StoredWrite(1)])
    #expect(!state.writes.contains(StoredWrite(3)))
    #expect(next.data(of: 1) == .integer(1))
    next.close()
  }

  @Test(
    "Flushed writes survive a power loss, even after a disk failure",
    arguments: powerLossSeeds(Thoroughness.third(of: 1...16))
  )
  func powerLoss(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryDirectory()
    let file = file(in: directory)
    try file.create()
    let disk = FaultyDisk(directory: directory.file("d"))
    disk.expectPowerLoss()
    var store = try SQLiteOfflineStore.open(file, observers: Told().observers).store
    var flushed = 0
    for number in 1...20 as ClosedRange<Int64> {
      if Int.random(in: 0..<3, using: &random) == 0 {
        let kind: DiskFault.Kind = Bool.random(using: &random) ? .sync : .write
        let times = Int.random(in: 1...2, using: &random)
        disk.fail(DiskFault(kind, at: Int.random(in: 1...3, using: &random), times: times))
      }
      // Data is not waited for, but the write behind it is. Large data fills the log, which is then
      // copied.
      let most = Int.random(in: 0..<4, using: &random) == 0 ? 600_000 : 20_000
      let text = String(repeating: "x", count: Int.random(in: 0..<most, using: &random))
      store.perform([.replace(query: 1, .string(text))])
      _ = store.data(of: 1)
      store.perform([.saveWrite(StoredWrite(number))])
      let hasFailed = await store.flush() != nil
      if !hasFailed { flushed = Int(number) }
      try expectKept(flushed, on: disk, using: &random, "seed \(seed), write \(number)")
      if hasFailed || Int.random(in: 0..<6, using: &random) == 0 {
        // A store that has failed is unusable until the next process. Anything waiting is lost with
        // this one.
        disk.fail(DiskFault(.full, at: 1, times: .max))
        store.close()
        disk.repair()
        let opened = try SQLiteOfflineStore.open(file, observers: Told().observers)
        store = opened.store
        #expect(opened.state.writes.count >= flushed)
        store.perform((1...number).map { .saveWrite(StoredWrite($0)) })
        if await store.flush() == nil { flushed = Int(number) }
        try expectKept(flushed, on: disk, using: &random, "seed \(seed), reopened at \(number)")
      }
    }
    #expect(flushed > 10)
    store.close()
  }
}
