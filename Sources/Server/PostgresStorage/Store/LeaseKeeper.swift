import Dispatch
import Foundation
import RealtimeServer

/// Renews a lease for as long as it is held, when no server does so.
///
/// A failed renewal is retried. Once another process has taken the lease, commits under this one are
/// refused.
final class LeaseKeeper: @unchecked Sendable {
  // Safety: one thread creates and cancels the timer; the connection is used only on `queue`.

  private let lease: Lease
  private let port: PostgresPort
  private let duration: Duration
  private let report: @Sendable (PostgresStoreEvent) -> Void
  private let queue = DispatchQueue(label: "PostgresTreeStore.lease")
  private let timer: any DispatchSourceTimer
  /// Whether the last renewal failed; used only on `queue`.
  private var hasFailed = false

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
      if hasFailed { report(.renewedAgain) }
      hasFailed = false
    } catch {
      hasFailed = true
      report(.renewalFailed(error))
    }
  }

  /// Stops renewing the lease and releases it.
  func release() {
    timer.cancel()
    queue.sync {
      // A lease that cannot be released is taken once it is seen to be renewed no more.
      try? port.release(lease, to: nil)
      port.close()
    }
  }
}

/// A lease that a store or a tool holds for itself.
struct OwnLease {
  let lease: Lease
  let number: Int64
  let keeper: LeaseKeeper
}
