import RealtimeCore

/// Compares what one client was told about each path with what was committed there.
///
/// The position at a path is a set of states, since states may be equal. The next state must be the
/// following one. A later one is allowed only with an excuse: the client was offline, a fault was
/// injected, or one of its own writes hid the change.
struct DeliveryTracker {
  enum Fault {
    /// The client was never told of a change, or not before the next one.
    case lost
    /// The client was told of a change too late.
    case late
    /// The client was told of a change after a later one.
    case older
  }

  private struct Key: Hashable {
    let view: String
    let path: Path
  }

  private struct View {
    let path: Path
    let limit: Int?
    /// Changes made before this moment are part of the view's initial content.
    let freeUntil: Moment
  }

  private struct PathState {
    /// The possible states; nil when they are unknown.
    var positions: Set<Int>?
    /// Whether the client's own writes have hidden what it was told.
    var isBlind = false
    /// States that were skipped, and may still arrive too late.
    var missing: Set<Int> = []
  }

  private let client: String
  private let versions: PathVersions
  private let bound: Duration
  private let disturbances: Disturbances
  /// How often the client was told of the next change, in order and in time.
  private(set) var rightCount = 0
  private(set) var violations: [(fault: Fault, violation: Violation)] = []
  private var views: [String: View] = [:]
  private var pathStates: [Key: PathState] = [:]
  /// How many of the client's own operations are under way on each path.
  private var underWay: [Path: Int] = [:]
  private var isUp = false
  /// How many faults are in effect on the client.
  private var troubles = 0
  /// Whether the connection still delivers late, because data is on its way in the network.
  private var isSlow = false
  private var calmSince = Moment.distantPast
  /// The revision of the last change told at any path.
  private var lastRevision = Int64.min

  init(_ client: ClientHistory, evidence: Evidence) {
    self.client = client.header.client
    versions = evidence.paths
    bound = evidence.options.freshness
    disturbances = Disturbances(of: client, by: evidence.history.driver)
  }

  /// Goes through everything that the client has recorded and the faults injected into it.
  mutating func follow(_ history: ClientHistory) {
    var faults = disturbances.faults[...]
    for line in history.lines {
      while let fault = faults.first, fault.time <= line.time {
        if case .fault(let name, _, let isOver) = fault.event {
          disturb(name, isOver: isOver, at: fault.time)
        }
        faults.removeFirst()
      }
      switch line.event {
      case .started: begin(at: line.time)
      case .connection(let isUp): connectionChanged(isUp: isUp, at: line.time)
      case .invoked(_, let intent): cover(intent, adding: 1)
      case .answered(let number, .ok), .answered(let number, .refused):
        if let operation = history.operation(number) { cover(operation.intent, adding: -1) }
      case .told(let telling): take(telling, at: line.time)
      case .ended: settle(at: line.time, isEnd: true)
      case .answered, .shown, .fault, .finalView, .screen, .server, .rules, .sample, .stalled,
        .coalesced:
        break
      }
    }
  }

  // MARK: Excuses

  private mutating func begin(at time: Moment) {
    settle(at: time, isEnd: false)
    views = [:]
    pathStates = [:]
    isUp = false
    isSlow = false
    lastRevision = .min
  }

  private mutating func connectionChanged(isUp: Bool, at time: Moment) {
    if !isUp { settle(at: time, isEnd: false) }
    self.isUp = isUp
    isSlow = false
    calmSince = time
    lastRevision = .min
  }

  private mutating func disturb(_ name: String, isOver: Bool, at time: Moment) {
    if name == "clock" { return }
    if !isOver { settle(at: time, isEnd: false) }
    troubles += isOver ? -1 : 1
    if name == "slow" || name == "delay" { isSlow = true }
    calmSince = time
    lastRevision = .min
  }

  /// Notes that one of the client's own operations starts or stops hiding what the database has.
  private mutating func cover(_ intent: Intent, adding count: Int) {
    for path in intent.coveredPaths {
      underWay[path, default: 0] += count
      for (key, _) in pathStates where key.path == path || key.path.parent == path {
        pathStates[key]?.isBlind = true
      }
    }
  }

  private func isCovered(_ path: Path) -> Bool {
    underWay[path, default: 0] > 0 || path.parent.map { underWay[$0, default: 0] > 0 } ?? false
  }

  /// The moment up to which changes need not be told one by one.
  private func freeUntil(_ view: View?) -> Moment {
    guard isUp, troubles == 0, !isSlow, let view else { return .distantFuture }
    return max(calmSince.advanced(by: bound), view.freeUntil)
  }

  /// Whether children of a view come and go because there are more of them than its limit.
  private func isWindow(_ view: View) -> Bool {
    view.limit.map { versions.mostPosts >= $0 } ?? false
  }

  // MARK: What the client is told

  private mutating func take(_ telling: Telling, at time: Moment) {
    let path = Path(wire: telling.path)
    let key = Key(view: telling.view, path: path)
    switch telling.content {
    case .everything(let limit):
      guard views[telling.view] == nil else { return }
      views[telling.view] = View(path: path, limit: limit, freeUntil: time.advanced(by: bound))
    case .child(nil, _):
      var state = pathStates[key] ?? initialState(of: key)
      state.isBlind = true
      pathStates[key] = state
    case .child(let version?, let changes): take(key, hash: version, changes: changes, at: time)
    case .gone:
      if let view = views[telling.view], isWindow(view) {
        pathStates[key] = PathState()
      } else {
        take(key, hash: PathVersions.States.nothing, changes: nil, at: time)
      }
    }
  }

  /// The state of a path about which the client was told nothing: empty once the view has begun.
  private func initialState(of key: Key) -> PathState {
    guard let view = views[key.view], !isWindow(view) else { return PathState() }
    let states = versions.states(at: key.path)
    return PathState(positions: Set(states.indices(hash: PathVersions.States.nothing)))
  }

  private mutating func take(_ key: Key, hash: String, changes: JSONValue?, at time: Moment) {
    var state = pathStates[key] ?? initialState(of: key)
    defer { pathStates[key] = state }
    let states = versions.states(at: key.path)
    let equal = states.indices(hash: hash)
    let isCovered = isCovered(key.path)
    guard let old = state.positions, !state.isBlind, !isCovered, let lowest = old.min() else {
      // The first state that is certain again becomes the position, whichever it is.
      let least = state.positions?.min() ?? 0
      let next = equal.filter { $0 >= least }
      if next.isEmpty { return }
      state.positions = Set(next)
      state.isBlind = isCovered
      return
    }
    let free = freeUntil(views[key.view])
    let next = equal.filter { index in
      old.contains(index) || old.contains(index - 1)
        || (index > lowest && states.versions[index - 1].seen <= free)
    }
    guard next.isEmpty else {
      checkTime(of: key, states, from: old, to: next, freeUntil: free, at: time)
      // A server that has left a client alone catches up view by view.
      let recently = time.advanced(by: .zero - bound)
      let made = next.map { states.versions[$0].seen }.max() ?? time
      let isBusy =
        disturbances.stalled(from: recently, to: time) * 2 > bound
        || disturbances.mayHaveCoalesced(from: min(made, time), to: time, within: bound)
      if isBusy { lastRevision = .min }
      if time > free, !isBusy { checkOrder(of: key, states, from: old, to: next) }
      state.positions = Set(next)
      return
    }
    stray(key, states: states, to: hash, changes: changes, of: &state, from: old, at: time)
  }

  /// Determines what a state is that is not the next one.
  private mutating func stray(
    _ key: Key,
    states: PathVersions.States,
    to hash: String,
    changes: JSONValue?,
    of state: inout PathState,
    from old: Set<Int>,
    at time: Moment
  ) {
    let (lowest, highest) = (old.min() ?? 0, old.max() ?? 0)
    let equal = states.indices(hash: hash)
    let alike = changes.map(states.indices(changes:)) ?? []
    let free = freeUntil(views[key.view])
    func pass(to index: Int) {
      let passed = ((old.filter { $0 < index }.max() ?? lowest) + 1..<index).filter {
        let made = states.versions[$0].seen
        return made > free
          && !disturbances.mayHaveCoalesced(from: min(made, time), to: time, within: bound)
      }
      state.missing.formUnion(passed)
    }
    if let later = equal.first(where: { $0 > lowest }) {
      pass(to: later)
      state.positions = Set(equal.filter { $0 >= later })
    } else if let earlier = equal.last {
      state.missing.subtract(equal)
      if time > free { report(.older, at: key, of: states, earlier, "arrives after newer ones") }
    } else if let next = alike.first(where: { old.contains($0 - 1) }) {
      // An earlier change was wrong, which has been reported; this one is not.
      state.positions = [next]
    } else if let late = alike.first(where: state.missing.contains) {
      state.missing.remove(late)
      report(.older, at: key, of: states, late, "arrives after newer ones")
    } else if let later = alike.first(where: { $0 > highest }) {
      pass(to: later)
      state.positions = [later]
    }
  }

  // MARK: Judging

  private mutating func checkTime(
    of key: Key,
    _ states: PathVersions.States,
    from old: Set<Int>,
    to next: [Int],
    freeUntil free: Moment,
    at time: Moment
  ) {
    guard let reached = next.last, let last = old.max(), reached > last else {
      rightCount += 1
      return
    }
    for index in last + 1...reached {
      if isLate(states.versions[index], freeUntil: free, at: time) {
        let delay = time.since(states.versions[index].seen)
        report(.late, at: key, of: states, index, "arrives \(delay) after its commit")
      } else {
        rightCount += 1
      }
    }
  }

  private func isLate(
    _ version: PathVersions.Version,
    freeUntil free: Moment,
    at time: Moment
  ) -> Bool {
    let due = max(version.seen, free)
    guard due < time, time.since(due) > bound else { return false }
    return time.since(due) - disturbances.stalled(from: due, to: time) > bound
  }

  /// Changes must be told in the order of their commits, whatever their paths.
  private mutating func checkOrder(
    of key: Key,
    _ states: PathVersions.States,
    from old: Set<Int>,
    to next: [Int]
  ) {
    guard old.count == 1, next.count == 1, let index = next.first, !old.contains(index) else {
      return
    }
    let revision = states.versions[index].revision
    if revision < lastRevision {
      let problem = "arrives after revision \(lastRevision), which is for another path"
      report(.older, at: key, of: states, index, problem)
    }
    lastRevision = max(lastRevision, revision)
  }

  /// Judges what should have been told by this time, before something excuses it.
  private mutating func settle(at time: Moment, isEnd: Bool) {
    for (key, state) in pathStates {
      let states = versions.states(at: key.path)
      for index in state.missing.sorted() {
        report(.lost, at: key, of: states, index, "was skipped")
      }
      pathStates[key]?.missing = []
    }
    for (name, view) in views where !isWindow(view) {
      let free = freeUntil(view)
      guard free < time else { continue }
      for path in versions.paths(below: view.path) {
        let key = Key(view: name, path: path)
        let state = pathStates[key] ?? initialState(of: key)
        let states = versions.states(at: path)
        guard let last = state.positions?.max(), !state.isBlind, !isCovered(path) else { continue }
        for index in states.versions.indices.dropFirst(last + 1)
        where isLate(states.versions[index], freeUntil: free, at: time) {
          let problem = isEnd ? "never arrived" : "did not arrive in time"
          report(isEnd ? .lost : .late, at: key, of: states, index, problem)
        }
      }
    }
  }

  private mutating func report(
    _ fault: Fault,
    at key: Key,
    of states: PathVersions.States,
    _ index: Int,
    _ problem: String
  ) {
    let revision = states.versions[index].revision
    let violation = Violation(
      location: "\(client), \(key.view)",
      problem: "the change of \(key.path) by revision \(revision) \(problem)"
    )
    violations.append((fault, violation))
  }
}
