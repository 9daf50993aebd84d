import Dispatch
import Foundation
import RealtimeHub
import RealtimeServer

/// Renews a lease for as long as it is held, where no server does it.
///
/// A renewal that fails is tried again; once the lease has ended, another may take it, and the commits of
/// this one are refused.
final class LeaseKeeper: @unchecked Sendable {
  // Safety: the timer is made and cancelled by one thread; the connection is used within `queue`.

  private let lease: Lease
  private let port: PostgresPort
  private let duration: Duration
  private let report: @Sendable (PostgresStoreEvent) -> Void
  private let queue = DispatchQueue(label: "PostgresTreeStore.lease")
  private let timer: any DispatchSourceTimer

  init(
    _ lease: Lease,
    of port: PostgresPort,
    for duration: Duration,
    report: @escaping @Sendable (PostgresStoreEvent) -> Void
  ) {
    self.lease = lease
    self.port = port
    self.duration = duration
    self.report = report
    timer = DispatchSource.makeTimerSource(queue: queue)
    let interval = Double(duration / .milliseconds(1)) / 3_000
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.setEventHandler { [weak self] in self?.renew() }
    timer.resume()
  }

  private func renew() {
    do throws(StoreError) {
      try port.renew(lease.holder, for: duration)
    } catch {
      report(.renewalFailed(error))
    }
  }

  /// Gives the lease up.
  func release() {
    timer.cancel()
    queue.sync {
      // What cannot be released ends by itself.
      try? port.release(lease, to: nil)
      port.close()
    }
  }
}

/// A lease that a store or a tool has for itself.
struct OwnLease {
  let lease: Lease
  /// The number of the database.
  let number: Int64
  /// Renews it.
  let keeper: LeaseKeeper

  /// Which lease of the database it is.
  var epoch: Int64 { lease.epoch }
}

/// A store that has a lease of its own.
final class LeasedTreeStore: TreeStore {
  private let store: PostgresTreeStore
  private let keeper: LeaseKeeper

  init(_ store: PostgresTreeStore, keeper: LeaseKeeper) {
    self.store = store
    self.keeper = keeper
  }

  func load() throws -> StoredTree { try store.load() }

  func commit(_ batch: CommitBatch) throws { try store.commit(batch) }

  func close() throws {
    defer { keeper.release() }
    try store.close()
  }
}
