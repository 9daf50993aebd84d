import Foundation
import RealtimeSync

/// What a store has told.
final class Told: @unchecked Sendable {
  // Safety: guarded by the lock.
  private let lock = NSLock()
  private var allSizes: [Int64] = []
  private var allProblems: [OfflineStoreError] = []

  var sizes: [Int64] { lock.withLock { allSizes } }
  var problems: [OfflineStoreError] { lock.withLock { allProblems } }

  var observers: OfflineStoreObservers {
    OfflineStoreObservers { size in
      self.lock.withLock { self.allSizes.append(size) }
    } onProblem: { problem in
      self.lock.withLock { self.allProblems.append(problem) }
    }
  }
}
