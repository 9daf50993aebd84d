import FaultyStorage
import Foundation
import GRDB
import RealtimeCore
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A store on a failing disk")
struct FaultyDiskTests {
  struct Plan: CustomTestStringConvertible {
    let fault: FaultyDisk.Fault
    let isLasting: Bool

    var testDescription: String { "\(fault), \(isLasting ? "until repaired" : "once")" }

    static let all = FaultyDisk.Fault.allCases.flatMap { fault in
      [false, true].map { Plan(fault: fault, isLasting: $0) }
    }
  }

  /// The operations of the traffic below, each of which fails in one round.
  private static let rounds = Thoroughness.third(of: 1...40)

  private let directory: TemporaryDirectory
  private let disk: FaultyDisk

  init() throws {
    directory = try TemporaryDirectory()
    disk = FaultyDisk(directory: directory.store)
  }

  /// Checks the store as a killed process would leave it at this point.
  ///
  /// It contains what was acknowledged, nothing that was refused, and all or nothing of a batch of
  /// unknown outcome.
  private func checkImage(
    of directory: TemporaryDirectory,
    _ model: StoreModel,
    unknown: StoreModel? = nil
  ) throws {
    let image = try TemporaryDirectory(filesOf: directory.store)
    let store = try SQLiteTreeStore(directory: image.store, now: 0)
    let tree = try store.load()
    check(tree, unknown?.revision == tree.revision ? unknown ?? model : model)
    try store.close()
  }

  /// Reopens the store on a working disk, and checks that it contains all that was acknowledged,
  /// and all or nothing of a batch of unknown outcome.
  private func reopen(
    _ directory: TemporaryDirectory,
    _ model: inout StoreModel,
    unknown: StoreModel?
  ) throws {
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    let tree = try store.load()
    if let unknown, tree.revision == unknown.revision { model = unknown }
    check(tree, model)
    try store.commit(model.nextBatch())
    check(try store.load(), model)
    try store.close()
    #expect(try StoreFile(at: directory.store).check().faults == [])
  }

  /// Checks that a failed store keeps reporting its failure, and writes nothing more.
  private func checkFinished(
    _ store: SQLiteTreeStore,
    _ failure: StoreError,
    on disk: FaultyDisk,
    _ batch: CommitBatch
  ) throws {
    let operations = disk.operationCount
    for isRepaired in [false, true] {
      if isRepaired { disk.repair() }
      for batch in [batch, CommitBatch(commits: [])] {
        let again = #expect(throws: StoreError.self) { try store.commit(batch) }
        #expect(again?.description == failure.description)
      }
      #expect(throws: StoreError.self) { try store.fold() }
      #expect(throws: StoreError.self) { try importNumber(5, into: store) }
    }
    try store.close()
    #expect(disk.operationCount == operations)
  }

  @Test("loses nothing, whichever operation fails", arguments: Plan.all)
  func everyOperation(plan: Plan) throws {
    var failures = 0
    var ends = 0
    var refused = 0
    for round in Self.rounds {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var model = StoreModel(seed: UInt64(round))
      var unknown: StoreModel?
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      disk.fail(at: round, plan.fault, lasting: plan.isLasting)
      var refusals = 0
      for number in 1...12 {
        var next = model
        let batch = next.nextBatch()
        do {
          try store.commit(batch)
          model = next
        } catch {
          #expect(error.description.contains(directory.database))
          // Reads continue, with the acknowledged data.
          check(try store.load(), model)
          guard error.kind == .full else {
            // A full disk cannot sync what it has either, which looks as if it were broken.
            #expect(error.kind == .failed)
            unknown = next
            ends += 1
            try checkImage(of: directory, model, unknown: next)
            try checkFinished(store, error, on: disk, batch)
            break
          }
          #expect(plan.fault != .broken)
          try checkImage(of: directory, model)
          refusals += 1
          refused += 1
          if refusals == 3 { disk.repair() }
        }
        if number % 5 == 0 { try? store.fold() }
      }
      if plan.fault != .broken, unknown == nil {
        disk.repair()
        try store.commit(model.nextBatch())
      }
      try? store.close()
      failures += disk.failureCount
      disk.repair()
      try reopen(directory, &model, unknown: unknown)
    }
    #expect(failures >= Self.rounds.count / 2, "the traffic is to reach the failures")
    if plan.fault == .broken {
      #expect(ends >= Self.rounds.count / 2)
    } else {
      #expect(refused > ends, "a write that finds no room is refused, and the store goes on")
    }
  }

  @Test("opens again once the disk works", arguments: Plan.all)
  func opening(plan: Plan) throws {
    for round in 1...12 {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var model = StoreModel(seed: UInt64(round))
      if round % 2 == 0 {
        let store = try SQLiteTreeStore(directory: directory.store, now: 0)
        for _ in 0..<6 { try store.commit(model.nextBatch()) }
        let image = try TemporaryDirectory(filesOf: directory.store)
        try store.close()
        // The state in which a killed process leaves it: with everything in the log.
        try directory.copyFiles(of: image.store)
      }
      disk.fail(at: (round + 1) / 2, plan.fault, lasting: plan.isLasting)
      do {
        let store = try SQLiteTreeStore(directory: directory.store, now: 0)
        check(try store.load(), model)
        try? store.close()
      } catch {
        #expect(!error.description.isEmpty)
      }
      disk.repair()
      try reopen(directory, &model, unknown: nil)
    }
  }

  @Test("continues after a restart, even over longer leftovers of a failed batch")
  func leftovers() throws {
    for round in 1...24 {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var model = StoreModel(seed: UInt64(round))
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      try store.commit(model.nextBatch())
      let fault: FaultyDisk.Fault = round % 2 == 0 ? .broken : .full
      disk.fail(at: 1 + round / 2 % 6, fault, lasting: true)
      var next = model
      var batch = next.nextBatch()
      let long = String(repeating: "long ", count: 6_000)
      batch.commits[0].changes.append(Change(Path([ChildKey("long")]), to: .string(long)))
      let failing = batch
      let error = #expect(throws: StoreError.self) { try store.commit(failing) }
      check(try store.load(), model)
      disk.repair()
      if error?.kind == .full {
        // The new batches are shorter than the failed one before them, so part of that one remains
        // after them.
        for _ in 0..<3 { try store.commit(model.nextBatch()) }
        check(try store.load(), model)
        try checkImage(of: directory, model)
      } else {
        #expect(error?.description.contains("start the server again") == true)
      }
      try store.close()
      let again = try SQLiteTreeStore(directory: directory.store, now: 0)
      // The batch is stored entirely or not at all; a commit with the same number follows.
      let isThere = try again.load().revision == next.revision && error?.kind != .full
      if !isThere {
        check(try again.load(), model)
        for _ in 0..<3 { try again.commit(model.nextBatch()) }
        check(try again.load(), model)
        try checkImage(of: directory, model)
      }
      try again.close()
      #expect(try StoreFile(at: directory.store).check().faults == [])
    }
  }

  /// Checks what is left of a store after a power loss, even when the whole mark has survived.
  private func checkPowerLoss(
    _ directory: TemporaryDirectory,
    _ disk: FaultyDisk,
    _ model: StoreModel,
    _ random: inout SplitMix64,
    _ note: String
  ) throws {
    for chance in [0, 1, 2] {
      let files = disk.filesAfterPowerLoss { Int.random(in: 0..<2, using: &random) < chance }
      let image = try TemporaryDirectory()
      try image.write(files)
      if chance != 1 {
        try FileManager.default.copyItem(
          atPath: directory.database + "-mark",
          toPath: image.database + "-mark"
        )
      }
      let store = try SQLiteTreeStore(directory: image.store, now: 0)
      let tree = try store.load()
      #expect(tree.revision == model.revision, "\(note), \(chance) of 2 writes are kept")
      #expect(exactText(tree.root) == exactText(model.root), "\(note)")
      try store.close()
    }
  }

  @Test(
    "keeps every acknowledged commit across a power loss, even after a failed sync",
    arguments: powerLossSeeds(Thoroughness.third(of: 1...12))
  )
  func powerLoss(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    disk.expectPowerLoss()
    var model = StoreModel(seed: seed)
    var store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for round in 1...30 {
      let note = "seed \(seed), round \(round)"
      if Int.random(in: 0..<4, using: &random) == 0 {
        let kind: DiskFault.Kind = Bool.random(using: &random) ? .sync : .write
        disk.fail(DiskFault(kind, at: Int.random(in: 1...4, using: &random), times: 1))
      }
      if Int.random(in: 0..<3, using: &random) == 0 { try? store.fold() }
      var next = model
      let batch = next.nextBatch()
      do {
        try store.commit(batch)
        model = next
      } catch {
        try store.close()
        // The disk fails once at a time, possibly while the next process opens the store.
        store = try openedAgain(directory)
        if try store.load().revision == next.revision { model = next }
      }
      if round % 2 == 0 { try checkPowerLoss(directory, disk, model, &random, note) }
    }
    #expect(disk.failureCount > 0)
    disk.repair()
    try store.close()
    check(try StoreFile(at: directory.store).load(), model)
  }

  /// Opens a store, retrying once.
  private func openedAgain(_ directory: TemporaryDirectory) throws -> SQLiteTreeStore {
    do {
      return try SQLiteTreeStore(directory: directory.store, now: 0)
    } catch {
      return try SQLiteTreeStore(directory: directory.store, now: 0)
    }
  }

  @Test("reports a full disk and resumes by itself once there is space")
  func space() throws {
    var model = StoreModel(seed: 1)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(model.nextBatch())
    disk.fail(at: 1, .full, lasting: true)
    for _ in 0..<3 {
      var next = model
      let batch = next.nextBatch()
      expectError(\StoreError.kind, .full, saying: "free some space") { try store.commit(batch) }
      check(try store.load(), model)
    }
    disk.repair()
    for _ in 0..<3 { try store.commit(model.nextBatch()) }
    check(try store.load(), model)
    try store.close()
  }

  @Test("reports a failed background fold and folds later")
  func folding() throws {
    // The same commits without a fold show how many operations they take.
    let other = try TemporaryDirectory()
    let counter = FaultyDisk(directory: other.store)
    var counted = StoreModel(seed: 1)
    let unfolded = try SQLiteTreeStore(directory: other.store, now: 0)
    let opening = counter.operationCount
    for _ in 0..<4 { try unfolded.commit(counted.nextBatch()) }
    let operations = counter.operationCount - opening
    try unfolded.close()

    var model = StoreModel(seed: 1)
    var options = StoreOptions()
    options.foldBatches = 3
    let reported = DispatchSemaphore(value: 0)
    options.report = { if case .foldFailed = $0 { reported.signal() } }
    let store = try SQLiteTreeStore(directory: directory.store, now: 0, options: options)
    disk.fail(at: operations + 1, .full, lasting: true)
    for _ in 0..<4 { try store.commit(model.nextBatch()) }
    #expect(reported.wait(timeout: .now() + 20) == .success)
    check(try store.load(), model)
    disk.repair()
    try store.fold()
    try store.commit(model.nextBatch())
    check(try store.load(), model)
    try store.close()
  }

  @Test("stops for good when its device disappears, and works again after a restart")
  func goneDevice() throws {
    for folds in [false, true] {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      var model = StoreModel(seed: 3)
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      for _ in 0..<3 { try store.commit(model.nextBatch()) }
      // From here on the open files are unusable, as after a device has gone and come back.
      disk.breakOpenFiles()
      var next = model
      let batch = next.nextBatch()
      if folds {
        expectError(\StoreError.kind, .failed) { try store.fold() }
      }
      do {
        try store.commit(batch)
        Issue.record("a commit has worked without its device")
      } catch {
        try checkFinished(store, error, on: disk, batch)
      }
      try reopen(directory, &model, unknown: next)
    }
  }

  @Test(
    "keeps acknowledged commits across a power loss after a restart with a batch in doubt",
    arguments: powerLossSeeds(Thoroughness.third(of: 1...2))
  )
  func powerLossAfterRestart(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    disk.expectPowerLoss()
    var model = StoreModel(seed: seed)
    let first = try SQLiteTreeStore(directory: directory.store, now: 0)
    try first.commit(model.nextBatch())
    disk.fail(DiskFault(.sync, at: 1, times: .max))
    let batch = model.nextBatch()
    expectError(\StoreError.kind, .failed) { try first.commit(batch) }
    disk.repair()
    // Like a killed process, it leaves everything as it is.
    let operations = disk.operationCount
    try first.close()
    #expect(disk.operationCount == operations)
    let second = try SQLiteTreeStore(directory: directory.store, now: 0)
    // The system has the batch, but the disk may have none of it.
    check(try second.load(), model)
    for _ in 1...3 {
      try second.commit(model.nextBatch())
      try checkPowerLoss(directory, disk, model, &random, "after the restart")
    }
    try second.close()
  }

  /// Leaves the files of a process that is killed after a commit.
  private func killedStore() throws -> StoreModel {
    let killed = try TemporaryDirectory()
    var model = StoreModel(seed: 1)
    let store = try SQLiteTreeStore(directory: killed.store, now: 0)
    try store.commit(model.nextBatch())
    try directory.copyFiles(of: killed.store)
    try store.close()
    return model
  }

  @Test("is readable while a killed process's log cannot be copied, and writable afterwards")
  func logOfEarlierProcess() throws {
    var model = try killedStore()
    disk.fail(DiskFault(.full, at: 1, times: .max))
    let second = try SQLiteTreeStore(directory: directory.store, now: 0)
    check(try second.load(), model)
    let batch = model.nextBatch()
    let error = #expect(throws: StoreError.self) { try second.commit(batch) }
    #expect(error?.kind == .full, "\(String(describing: error))")
    disk.repair()
    try second.commit(batch)
    check(try second.load(), model)
    try second.close()
  }

  @Test("does not open while the disk cannot persist a killed process's log")
  func brokenLogOfEarlierProcess() throws {
    var model = try killedStore()
    disk.fail(DiskFault(.sync, at: 1, times: .max))
    expectError(\StoreError.kind, .failed) {
      try SQLiteTreeStore(directory: directory.store, now: 0)
    }
    disk.repair()
    try reopen(directory, &model, unknown: nil)
  }

  @Test("refuses commits while another process reads a killed process's log")
  func readLogOfEarlierProcess() throws {
    var model = try killedStore()
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: directory.database, configuration: configuration)
    try reader.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM log") }
    let second = try SQLiteTreeStore(directory: directory.store, now: 0)
    check(try second.load(), model)
    let batch = model.nextBatch()
    let error = #expect(throws: StoreError.self) { try second.commit(batch) }
    #expect(error?.description.contains("while another process") == true)
    try reader.inDatabase { try $0.execute(sql: "ROLLBACK") }
    try reader.close()
    try second.commit(batch)
    try second.close()
    check(try StoreFile(at: directory.store).load(), model)
  }

  @Test("folds nothing twice after a failed fold and a reopening")
  func foldingOnce() throws {
    let first = try SQLiteTreeStore(directory: directory.store, now: 0)
    try first.commit(1, Change("b", to: .integer(1)))
    disk.breakOpenFiles()
    #expect(throws: StoreError.self) { try first.fold() }
    try first.close()
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    // A priority on an empty node has no effect, not even on data written there later.
    let changes = [Change("a/.priority", to: .integer(1)), Change("a/b", to: .integer(2))]
    try store.commit(2, changes)
    let expected = try store.load()
    #expect(expected.root[Path("a")].priority == nil)
    try store.fold()
    #expect(try store.load() == expected)
    try store.close()
  }

  @Test("reports a failed final fold on closing and loses nothing")
  func closing() throws {
    var model = StoreModel(seed: 1)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    try store.commit(model.nextBatch())
    disk.fail(at: 1, .full, lasting: true)
    expectError(\StoreError.kind, .full) { try store.close() }
    disk.repair()
    try reopen(directory, &model, unknown: nil)
  }

  @Test("contains a failed import entirely or not at all after a kill", arguments: 1...8)
  func failedImport(operation: Int) throws {
    for fault in FaultyDisk.Fault.allCases {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory: directory.store)
      let store = try SQLiteTreeStore(directory: directory.store, now: 0)
      #expect(try importNumber(1, into: store) == 1)
      disk.fail(at: operation, fault, lasting: false)
      var failure: StoreError?
      do { _ = try importNumber(2, into: store) } catch { failure = error as? StoreError }
      #expect(try store.load().root == .integer(failure == nil ? 2 : 1))
      let image = try TemporaryDirectory(filesOf: directory.store)
      let left = try StoreFile(at: image.store).load().root
      switch failure?.kind {
      case nil: #expect(left == .integer(2))
      case .full?: #expect(left == .integer(1))
      default: #expect(left == .integer(1) || left == .integer(2))
      }
      disk.repair()
      try store.close()
    }
  }

  /// Replaces all data with a number, and returns the revision.
  private func importNumber(_ number: Int, into store: SQLiteTreeStore) throws -> Int64 {
    var pieces = [Array("\(number)".utf8)]
    var json = JSONTokenizer { pieces.popLast() ?? [] }
    return try store.importTree(&json, mode: .replacing).revision
  }
}
