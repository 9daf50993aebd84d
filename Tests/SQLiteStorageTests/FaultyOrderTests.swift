import FaultyStorage
import Foundation
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import RealtimeServer

/// A commit and a fold whose n-th operation fails, in an order chosen by the test.
///
/// The fold stops before that operation until the commit has reached its own m-th operation, and
/// after it until the commit has ended. If the store makes one wait for the other, the fold goes on
/// after a moment.
private final class Meeting: Sendable {
  private static let commitName = "commit"
  private static let patience = DispatchTimeInterval.milliseconds(20)

  private let disk: FaultyDisk
  private let store: SQLiteTreeStore
  private let batch: CommitBatch
  private let operation: FaultyDisk.Operation
  /// The number of the operation of the fold that fails.
  private let failing: Int
  /// The operation of the commit before which it waits; 0 if it begins after the failure.
  private let held: Int

  private let foldOperations = Atomic(0)
  private let commitOperations = Atomic(0)
  private let hasFailed = Atomic(false)
  private let isAcknowledged = Atomic(false)
  private let mustWait = Atomic(false)
  private let arrived = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  init(
    _ disk: FaultyDisk,
    _ store: SQLiteTreeStore,
    _ batch: CommitBatch,
    _ operation: FaultyDisk.Operation,
    failing: Int,
    held: Int
  ) {
    self.disk = disk
    self.store = store
    self.batch = batch
    self.operation = operation
    self.failing = failing
    self.held = held
  }

  /// Folds and commits.
  ///
  /// - Returns: Whether the commit was acknowledged; nil if the fold has fewer operations.
  func run() -> Bool? {
    disk.observe { self.reach($0) }
    try? store.fold()
    disk.observe(nil)
    guard hasFailed.load(ordering: .relaxed) else { return nil }
    released.signal()
    #expect(ended.wait(timeout: .now() + 20) == .success)
    return isAcknowledged.load(ordering: .relaxed)
  }

  /// Whether the commit had to wait for the fold, so that there is no other order.
  var hasNoOtherOrder: Bool { mustWait.load(ordering: .relaxed) }

  private func wait(for moment: DispatchSemaphore) {
    if moment.wait(timeout: .now() + Self.patience) == .timedOut {
      mustWait.store(true, ordering: .relaxed)
    }
  }

  private func commit() {
    Thread.detachNewThread {
      Thread.current.name = Self.commitName
      let isStored = (try? self.store.commit(self.batch)) != nil
      self.isAcknowledged.store(isStored, ordering: .relaxed)
      for semaphore in [self.arrived, self.ended, self.ended] { semaphore.signal() }
    }
  }

  private func reach(_ moment: FaultyDisk.Moment) {
    guard Thread.current.name != Self.commitName else {
      guard !moment.isOver, commitOperations.add(1, ordering: .relaxed).newValue == held else {
        return
      }
      arrived.signal()
      released.wait()
      return
    }
    guard moment.operation == operation else { return }
    if !moment.isOver {
      guard foldOperations.add(1, ordering: .relaxed).newValue == failing else { return }
      if held > 0 {
        commit()
        wait(for: arrived)
      }
      disk.fail(DiskFault(operation == .sync ? .sync : .write, at: 1, times: 1))
    } else if foldOperations.load(ordering: .relaxed) == failing,
      !hasFailed.exchange(true, ordering: .relaxed)
    {
      if held == 0 { commit() }
      released.signal()
      wait(for: ended)
    }
  }
}

@Suite("A commit during a fold on a failing disk")
struct FaultyOrderTests {
  private enum Outcome {
    case done
    /// There is no other order with this failure.
    case onlyOrder
    /// The fold has fewer operations.
    case noFailure
  }

  /// Runs one order, and lets the power go afterwards.
  private func run(
    _ operation: FaultyDisk.Operation,
    failing: Int,
    held: Int
  ) throws -> Outcome {
    let directory = try TemporaryDirectory()
    let disk = FaultyDisk(directory: directory.store)
    disk.expectPowerLoss()
    var model = StoreModel(seed: 7)
    let store = try SQLiteTreeStore(directory: directory.store, now: 0)
    for _ in 0..<3 { try store.commit(model.nextBatch()) }
    var next = model
    let batch = next.nextBatch()
    let meeting = Meeting(disk, store, batch, operation, failing: failing, held: held)
    guard let isAcknowledged = meeting.run() else {
      try store.close()
      return .noFailure
    }
    let note = "\(operation) \(failing) of the fold fails, the commit is held at \(held)"
    #expect(disk.failureCount == 1, "\(note)")
    for keepsHalf in [false, true] {
      var number = 0
      let image = try TemporaryDirectory()
      let files = disk.filesAfterPowerLoss {
        number += 1
        return keepsHalf && number % 2 == 0
      }
      try image.write(files)
      let mark = "-mark"
      try FileManager.default.copyItem(
        atPath: directory.database + mark,
        toPath: image.database + mark
      )
      let again: SQLiteTreeStore
      do {
        again = try SQLiteTreeStore(directory: image.store, now: 0)
      } catch {
        Issue.record("\(note): \(error)")
        continue
      }
      let tree = try again.load()
      let expected = tree.revision == next.revision ? next : model
      if isAcknowledged { #expect(tree.revision == next.revision, "\(note)") }
      #expect(exactText(tree.root) == exactText(expected.root), "\(note)")
      try again.close()
    }
    try? store.close()
    return meeting.hasNoOtherOrder ? .onlyOrder : .done
  }

  @Test(
    "The commit is durable with all before it or is not acknowledged, in every interleaving",
    arguments: [FaultyDisk.Operation.write, .sync]
  )
  func orders(operation: FaultyDisk.Operation) throws {
    var failing = 0
    var outcome = Outcome.done
    while outcome != .noFailure {
      failing += 1
      for held in 0...6 {
        outcome = try run(operation, failing: failing, held: held)
        if outcome != .done { break }
      }
    }
    #expect(failing > 2)
  }
}
