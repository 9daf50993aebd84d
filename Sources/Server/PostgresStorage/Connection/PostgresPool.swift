import Foundation
import NIOConcurrencyHelpers
import RealtimeServer

/// The connections that the databases of a server share; there are never more than a bound.
///
/// Any thread may take one for a while. Whoever has waited longest gets the next one, so a busy
/// database does not keep the others waiting.
final class PostgresPool: @unchecked Sendable {
  // Safety: everything that changes is used only with the condition's lock held. A connection is
  // used by the thread that took it, until it gives the connection back.

  private let address: PostgresAddress
  private let bound: Int
  private let activity: NIOLockedValueBox<StorageActivity>
  private let condition = NSCondition()
  private var idle: [PostgresConnection] = []
  /// The number of connections that threads use or open.
  private var used = 0
  /// The numbers of those who wait, the first to come first.
  private var waiting: [Int] = []
  private var lastNumber = 0
  /// The number of lost connections that have not been made again.
  private var lost = 0

  init(
    to address: PostgresAddress,
    bound: Int,
    activity: NIOLockedValueBox<StorageActivity>
  ) {
    self.address = address
    self.bound = bound
    self.activity = activity
  }

  deinit { for connection in idle { connection.close() } }

  /// Takes a connection, which is opened if none is idle, and which must be given back.
  ///
  /// For those who do not try again, it checks that an idle connection has not ended meanwhile.
  ///
  /// - Throws: ``PostgresFailure`` when there is none in time; nothing must be given back then.
  func take(
    until deadline: ContinuousClock.Instant,
    isChecked: Bool = false
  ) throws(PostgresFailure) -> PostgresConnection {
    let (isAdmitted, known) = admit(until: deadline)
    guard isAdmitted else {
      throw PostgresFailure(
        "all \(bound) connections are in use (--store-connections)",
        state: "53300",
        isLost: false
      )
    }
    if let known {
      if !isChecked || (try? known.query("SELECT 1", within: .seconds(1))) != nil { return known }
      known.close()
      giveBack(known)
      return try take(until: deadline)
    }
    do throws(PostgresFailure) {
      let limit = max(deadline - .now, .milliseconds(50))
      // Without much time, the limits that the address sets are too long.
      let connection = try PostgresConnection(
        to: address,
        within: limit < .seconds(10) ? limit : nil
      )
      let isAgain = condition.withLock {
        guard lost > 0 else { return false }
        lost -= 1
        return true
      }
      if isAgain { activity.withLockedValue { $0.reconnections += 1 } }
      return connection
    } catch {
      giveBack(nil)
      throw error
    }
  }

  var isAwaited: Bool { condition.withLock { !waiting.isEmpty } }

  private func admit(until deadline: ContinuousClock.Instant) -> (Bool, PostgresConnection?) {
    condition.withLock {
      lastNumber += 1
      let number = lastNumber
      waiting.append(number)
      defer {
        waiting.removeAll { $0 == number }
        condition.broadcast()
      }
      while waiting.first != number || used >= bound {
        let rest = deadline - .now
        guard rest > .zero else { return (false, nil) }
        _ = condition.wait(until: Date(timeIntervalSinceNow: rest / .seconds(1)))
      }
      used += 1
      return (true, idle.popLast())
    }
  }

  /// Gives a connection back, which may have been lost; nil if none could be opened.
  func giveBack(_ connection: PostgresConnection?) {
    let ended = condition.withLock { () -> [PostgresConnection] in
      used -= 1
      condition.broadcast()
      guard let connection else { return [] }
      guard !connection.isOpen else {
        idle.append(connection)
        return []
      }
      lost += 1
      // Whatever ended it, a restart or a network, has probably ended these as well.
      defer { idle = [] }
      return idle
    }
    for connection in ended { connection.close() }
  }
}
