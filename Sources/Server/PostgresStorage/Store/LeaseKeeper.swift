import Dispatch
import Foundation
import RealtimeServer

/// A lease that a store or a tool holds for itself, which is renewed until it is released.
///
/// A failed renewal is retried. Once another process has taken the lease, commits under this one are
/// refused.
final class LeaseKeeper: @unchecked Sendable {
  // Safety: one thread creates and cancels the timer; the connection is used only on `queue`.

  let lease: Lease
  /// The number of the database.
  let number: Int64
  private let port: PostgresPort
  private let duration: Duration
  private let report: @Sendable (PostgresStoreEvent) -> Void
  private let queue = DispatchQueue(label: "PostgresTreeStore.lease")
  private let timer: any DispatchSourceTimer
  /// Whether the last renewal failed; used only on `queue`.
  private var hasFailed = false

  init(
    _ lease: Lease,
    of number: Int64,
    at address: PostgresAddress,
    options: PostgresStoreOptions
  ) {
    self.lease = lease
    self.number = number
    port = PostgresPort(to: address, options: options)
    duration = options.ownLease
    report = options.report
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
