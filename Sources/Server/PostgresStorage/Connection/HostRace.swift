import CPostgres
import Foundation

/// Opens a connection to one of several hosts, which are tried side by side.
///
/// The host that answered last has a head start. The first that accepts the connection wins; the
/// others are closed as soon as they have an outcome, which their time limits ensure.
final class HostRace: @unchecked Sendable {
  // Safety: everything that changes is used only with the condition's lock held.

  private let library: PostgresLibrary
  private let settings: [(String, String)]
  private let condition = NSCondition()
  private var winner: (handle: OpaquePointer, host: Int)?
  private var failures: [String] = []
  /// The SQLSTATEs with which PostgreSQL has refused connections.
  private var states: [String] = []
  private var pending = 0
  private var isOver = false

  /// How long the host that answered last is tried alone.
  private static let headStart = 0.25

  private init(_ settings: [(String, String)], library: PostgresLibrary) {
    self.settings = settings
    self.library = library
  }

  /// Opens a connection to an address, which may name several hosts and is among the settings.
  ///
  /// The limit is for all of this, and only counts if it is shorter than what a host has.
  ///
  /// - Throws: ``PostgresFailure`` with what each host said, when none accepts the connection.
  static func connect(
    to address: PostgresAddress,
    with settings: [(String, String)],
    within limit: Duration?,
    library: PostgresLibrary
  ) throws(PostgresFailure) -> OpaquePointer {
    let hosts = hosts(of: address.text, library: library)
    let race = HostRace(settings, library: library)
    guard hosts.count > 1 || limit != nil else {
      race.pending = 1
      race.run([], number: 0)
      return try race.result().handle
    }
    // Every host has a time limit of its own, which comes long before an hour.
    let end = Date(timeIntervalSinceNow: limit.map { $0 / .seconds(1) } ?? 3_600)
    let first = min(address.lastHost.number, max(0, hosts.count - 1))
    race.start(hosts.isEmpty ? [] : hosts[first], number: first)
    if hosts.count > 1, !race.wait(until: min(end, Date(timeIntervalSinceNow: headStart))) {
      for (number, host) in hosts.enumerated() where number != first {
        race.start(host, number: number)
      }
    }
    _ = race.wait(until: end)
    let winner = try race.result()
    address.lastHost.number = winner.host
    return winner.handle
  }

  private func start(_ host: [(String, String)], number: Int) {
    condition.withLock { pending += 1 }
    Thread.detachNewThread { [self] in run(host, number: number) }
  }

  private func run(_ host: [(String, String)], number: Int) {
    let texts = (settings + host).map { (strdup($0.0), strdup($0.1)) }
    defer {
      for (keyword, value) in texts {
        free(keyword)
        free(value)
      }
    }
    let keywords: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0.0) } + [nil]
    let values: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0.1) } + [nil]
    let handle = open(keywords, values)
    let isOpen =
      handle.map { library.functions.status($0) == CPOSTGRES_CONNECTION_OK.rawValue } ?? false
    let reason = handle.map { String(cString: library.functions.errorMessage($0)) } ?? ""
    condition.withLock {
      pending -= 1
      if let handle, isOpen, winner == nil, !isOver {
        winner = (handle, number)
      } else if let handle {
        if !isOpen { note(reason) }
        library.functions.finish(handle)
      } else {
        failures.append("there is not enough memory for a connection")
      }
      condition.broadcast()
    }
  }

  /// Connects with errors that have the SQLSTATE, as PostgreSQL may say them in any language.
  private func open(
    _ keywords: [UnsafePointer<CChar>?],
    _ values: [UnsafePointer<CChar>?]
  ) -> OpaquePointer? {
    let functions = library.functions
    guard let handle = functions.connectStartParams(keywords, values, 1) else { return nil }
    let isWrong = functions.status(handle) == CPOSTGRES_CONNECTION_BAD.rawValue
    _ = functions.setErrorVerbosity(handle, Int32(CPOSTGRES_ERRORS_VERBOSE))
    // Nothing has been sent yet. The library keeps its time limits only if it starts again.
    if !isWrong { functions.reset(handle) }
    _ = functions.setErrorVerbosity(handle, Int32(CPOSTGRES_ERRORS_DEFAULT))
    return handle
  }

  /// Records why a host does not accept a connection, without what only verbose errors have.
  private func note(_ reason: String) {
    let state = #/:  ([0-9A-Z]{5}): /#
    states += reason.matches(of: state).map { String($0.1) }
    failures.append(
      reason.replacing(state, with: ":  ").replacing(#/\n[^\n]*, \S+:\d+/#, with: "")
    )
  }

  /// Waits until there is a winner; false if the time has come or every host has failed.
  private func wait(until time: Date) -> Bool {
    condition.withLock {
      while winner == nil, pending > 0, condition.wait(until: time) {}
      return winner != nil
    }
  }

  private func result() throws(PostgresFailure) -> (handle: OpaquePointer, host: Int) {
    let (winner, reason, states) = condition.withLock {
      isOver = true
      return (self.winner, failures.joined(separator: "; "), self.states)
    }
    guard let winner else {
      let text = reason.isEmpty ? PostgresFailure.late : PostgresFailure.oneLine(reason)
      // Anything else is wrong with the address, which trying again does not change.
      let isTried = ["connection to server", "could not", PostgresFailure.late].contains {
        text.contains($0)
      }
      throw PostgresFailure(
        text,
        state: isTried ? nil : PostgresFailure.own,
        isLost: isTried,
        isFinal: !states.isEmpty && !states.contains(where: PostgresFailure.isPassing)
      )
    }
    return winner
  }

  /// The parameters that choose each of the hosts of a connection string; none for a single host.
  private static func hosts(of text: String, library: PostgresLibrary) -> [[(String, String)]] {
    guard let first = library.functions.conninfoParse(text, nil) else { return [] }
    defer { library.functions.conninfoFree(first) }
    var lists: [String: [String]] = [:]
    var option = first
    while let keyword = option.pointee.keyword {
      let name = String(cString: keyword)
      if ["host", "hostaddr", "port"].contains(name), let value = option.pointee.val {
        lists[name] = String(cString: value).components(separatedBy: ",")
      }
      option += 1
    }
    let count = max(lists["host"]?.count ?? 0, lists["hostaddr"]?.count ?? 0)
    guard count > 1, lists.values.allSatisfy({ $0.count == count || $0.count == 1 }) else {
      return []
    }
    return (0..<count).map { number in
      lists.map { ($0.key, $0.value.count == 1 ? $0.value[0] : $0.value[number]) }
    }
  }
}
