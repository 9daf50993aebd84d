import RealtimeCore

/// Follows what one client was told of each place, beside what was committed there.
///
/// Where a place stands is a set of states, since two of them may be equal. A further state must be the
/// next one; another that comes later is right only where something excuses it: the client was away,
/// something was done to it, or a write of its own hid what it was told.
struct ToldAccount {
  /// What is found out, one after another.
  enum Judgement {
    /// The next change was told, and how: in order, in time.
    case right
    /// A change was never told, or not before the next one.
    case lost(Violation)
    /// A change was told too late.
    case late(Violation)
    /// A change was told after one that came later.
    case older(Violation)
  }

  private struct Key: Hashable {
    let view: String
    let path: Path
  }

  private struct View {
    let path: Path
    let limit: Int?
    /// What came about until then is part of what the view has begun with.
    let freeUntil: Moment
  }

  private struct Place {
    /// The states that it may have; nil when nobody knows.
    var positions: Set<Int>?
    /// Whether writes of the client's own have hidden what it was told.
    var isBlind = false
    /// States that were passed over, and may still be told too late.
    var missing: Set<Int> = []
  }

  private let client: String
  private let versions: PlaceVersions
  private let bound: Duration
  private let disturbances: Disturbances
  private let judge: (Judgement) -> Void

  private var views: [String: View] = [:]
  private var places: [Key: Place] = [:]
  /// How many operations of the client's own are under way at each place.
  private var underWay: [Path: Int] = [:]
  private var isUp = false
  /// How many faults are being done to the client.
  private var troubles = 0
  /// Whether the rest of the connection delivers late, as the network has pieces under way.
  private var isSlow = false
  private var calmSince = Moment.distantPast
  /// The revision of what was told last, of any place.
  private var lastRevision = Int64.min

  /// Prepares to follow a client.
  ///
  /// - Parameters:
  ///   - client: What it has noted.
  ///   - versions: What was committed.
  ///   - evidence: What the driver has noted, and what is tolerated.
  ///   - judge: Takes what is found out.
  init(
    _ client: ClientHistory,
    _ versions: PlaceVersions,
    _ evidence: Evidence,
    judge: @escaping (Judgement) -> Void
  ) {
    self.client = client.header.client
    self.versions = versions
    bound = evidence.options.freshness
    disturbances = Disturbances(client, evidence.history.driver)
    self.judge = judge
  }

  /// Goes through everything that the client has noted, and what was done to it meanwhile.
  mutating func follow(_ history: ClientHistory) {
    let operations = Dictionary(
      history.operations.map { ($0.number, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    var faults = disturbances.faults[...]
    for line in history.lines {
      while let fault = faults.first, fault.time <= line.time {
        if case .fault(let name, _, let isOver) = fault.event { disturb(name, isOver, fault.time) }
        faults.removeFirst()
      }
      switch line.event {
      case .started: begin(line.time)
      case .connection(let isUp): connectionChanged(isUp, line.time)
      case .invoked(_, let intent): cover(intent, 1)
      case .answered(let number, .ok), .answered(let number, .refused):
        if let operation = operations[number] { cover(operation.intent, -1) }
      case .told(let telling): take(telling, line.time)
      case .ended: settle(line.time, isEnd: true)
      case .answered, .shown, .fault, .finalView, .screen, .server, .rules, .sample, .stalled,
        .coalesced:
        break
      }
    }
  }

  // MARK: What excuses

  private mutating func begin(_ time: Moment) {
    settle(time, isEnd: false)
    views = [:]
    places = [:]
    isUp = false
    isSlow = false
    lastRevision = .min
  }

  private mutating func connectionChanged(_ isUp: Bool, _ time: Moment) {
    if !isUp { settle(time, isEnd: false) }
    self.isUp = isUp
    isSlow = false
    calmSince = time
    lastRevision = .min
  }

  private mutating func disturb(_ name: String, _ isOver: Bool, _ time: Moment) {
    if name == "clock" { return }
    if !isOver { settle(time, isEnd: false) }
    troubles += isOver ? -1 : 1
    if name == "slow" || name == "delay" { isSlow = true }
    calmSince = time
    lastRevision = .min
  }

  /// Notes that an operation of the client's own begins or ends to hide what the database has.
  private mutating func cover(_ intent: Intent, _ count: Int) {
    for path in intent.coveredPlaces {
      underWay[path, default: 0] += count
      for (key, _) in places where key.path == path || key.path.parent == path {
        places[key]?.isBlind = true
      }
    }
  }

  private func isCovered(_ path: Path) -> Bool {
    underWay[path, default: 0] > 0 || path.parent.map { underWay[$0, default: 0] > 0 } ?? false
  }

  /// Until when what came about need not be told by itself.
  private func freeUntil(_ view: View?) -> Moment {
    guard isUp, troubles == 0, !isSlow, let view else { return .distantFuture }
    return max(calmSince.advanced(by: bound), view.freeUntil)
  }

  /// Whether the children of a view come and go since there are more than it has.
  private func isWindow(_ view: View) -> Bool {
    view.limit.map { versions.mostPosts >= $0 } ?? false
  }

  // MARK: What is told

  private mutating func take(_ telling: Telling, _ time: Moment) {
    let path = Path(wire: telling.path)
    let key = Key(view: telling.view, path: path)
    switch telling.content {
    case .everything(let limit):
      guard views[telling.view] == nil else { return }
      views[telling.view] = View(path: path, limit: limit, freeUntil: time.advanced(by: bound))
    case .child(nil, _):
      var place = places[key] ?? place(key)
      place.isBlind = true
      places[key] = place
    case .child(let version?, let changes): take(key, version, changes, time)
    case .gone:
      if let view = views[telling.view], isWindow(view) {
        places[key] = Place()
      } else {
        take(key, PlaceVersions.States.nothing, nil, time)
      }
    }
  }

  /// What is known of a place of which nothing was told: nothing is there once the view has begun.
  private func place(_ key: Key) -> Place {
    guard let view = views[key.view], !isWindow(view) else { return Place() }
    let states = versions.states(at: key.path)
    return Place(positions: Set(states.indices(hash: PlaceVersions.States.nothing)))
  }

  private mutating func take(_ key: Key, _ hash: String, _ changes: JSONValue?, _ time: Moment) {
    var place = places[key] ?? place(key)
    defer { places[key] = place }
    let states = versions.states(at: key.path)
    let equal = states.indices(hash: hash)
    let isCovered = isCovered(key.path)
    guard let old = place.positions, !place.isBlind, !isCovered, let lowest = old.min() else {
      // The first that is certain again: wherever it is, the place is there.
      let least = place.positions?.min() ?? 0
      let next = equal.filter { $0 >= least }
      if next.isEmpty { return }
      place.positions = Set(next)
      place.isBlind = isCovered
      return
    }
    let free = freeUntil(views[key.view])
    let next = equal.filter { index in
      old.contains(index) || old.contains(index - 1)
        || (index > lowest && states.versions[index - 1].seen <= free)
    }
    guard next.isEmpty else {
      checkTime(key, states, from: old, to: next, free, time)
      // A server that has let a client be catches up view by view.
      let recently = time.advanced(by: .zero - bound)
      let isBusy =
        disturbances.stalled(from: recently, to: time) * 2 > bound
        || disturbances.mayHaveCoalesced(at: time, within: bound)
      if isBusy { lastRevision = .min }
      if time > free, !isBusy { checkOrder(key, states, from: old, to: next) }
      place.positions = Set(next)
      return
    }
    stray(key, states, hash, changes, &place, old, time)
  }

  /// Finds out what a state is that is not the next one.
  private func stray(
    _ key: Key,
    _ states: PlaceVersions.States,
    _ hash: String,
    _ changes: JSONValue?,
    _ place: inout Place,
    _ old: Set<Int>,
    _ time: Moment
  ) {
    let (lowest, highest) = (old.min() ?? 0, old.max() ?? 0)
    let equal = states.indices(hash: hash)
    let alike = changes.map(states.indices(changes:)) ?? []
    let free = freeUntil(views[key.view])
    func pass(to index: Int) {
      let passed = ((old.filter { $0 < index }.max() ?? lowest) + 1..<index).filter {
        states.versions[$0].seen > free
      }
      if !disturbances.mayHaveCoalesced(at: time, within: bound) { place.missing.formUnion(passed) }
    }
    if let later = equal.first(where: { $0 > lowest }) {
      pass(to: later)
      place.positions = Set(equal.filter { $0 >= later })
    } else if let earlier = equal.last {
      place.missing.subtract(equal)
      if time > free { judge(.older(violation(key, states, earlier, "is told after newer ones"))) }
    } else if let next = alike.first(where: { old.contains($0 - 1) }) {
      // Something of it was wrong before, which has been told; this change is not.
      place.positions = [next]
    } else if let late = alike.first(where: place.missing.contains) {
      place.missing.remove(late)
      judge(.older(violation(key, states, late, "is told after newer ones")))
    } else if let later = alike.first(where: { $0 > highest }) {
      pass(to: later)
      place.positions = [later]
    }
  }

  // MARK: Judging

  private func checkTime(
    _ key: Key,
    _ states: PlaceVersions.States,
    from old: Set<Int>,
    to next: [Int],
    _ free: Moment,
    _ time: Moment
  ) {
    guard let reached = next.last, let last = old.max(), reached > last else {
      return judge(.right)
    }
    for index in last + 1...reached {
      if isLate(states.versions[index], free, time) {
        let delay = time.since(states.versions[index].seen)
        judge(.late(violation(key, states, index, "is told \(delay) after its commit")))
      } else {
        judge(.right)
      }
    }
  }

  private func isLate(
    _ version: PlaceVersions.Version,
    _ free: Moment,
    _ time: Moment
  ) -> Bool {
    let due = max(version.seen, free)
    guard due < time, time.since(due) > bound else { return false }
    return time.since(due) - disturbances.stalled(from: due, to: time) > bound
  }

  /// Whatever its place, nothing is told before what was committed earlier.
  private mutating func checkOrder(
    _ key: Key,
    _ states: PlaceVersions.States,
    from old: Set<Int>,
    to next: [Int]
  ) {
    guard old.count == 1, next.count == 1, let index = next.first, !old.contains(index) else {
      return
    }
    let revision = states.versions[index].revision
    if revision < lastRevision {
      let problem = "is told after revision \(lastRevision), which is of another place"
      judge(.older(violation(key, states, index, problem)))
    }
    lastRevision = max(lastRevision, revision)
  }

  /// Looks at what should have been told by now, before something excuses it.
  private mutating func settle(_ time: Moment, isEnd: Bool) {
    for (key, place) in places {
      let states = versions.states(at: key.path)
      for index in place.missing.sorted() {
        judge(.lost(violation(key, states, index, "was left out of what is told")))
      }
      places[key]?.missing = []
    }
    for (name, view) in views where !isWindow(view) {
      let free = freeUntil(view)
      guard free < time else { continue }
      for path in versions.places(below: view.path) {
        let key = Key(view: name, path: path)
        let place = places[key] ?? place(key)
        let states = versions.states(at: path)
        guard let last = place.positions?.max(), !place.isBlind, !isCovered(path) else { continue }
        for index in states.versions.indices.dropFirst(last + 1)
        where isLate(states.versions[index], free, time) {
          judge(
            isEnd
              ? .lost(violation(key, states, index, "was never told"))
              : .late(
                violation(key, states, index, "was not told in time, and then it was too late")
              )
          )
        }
      }
    }
  }

  private func violation(
    _ key: Key,
    _ states: PlaceVersions.States,
    _ index: Int,
    _ problem: String
  ) -> Violation {
    Violation(
      at: "\(client), \(key.view)",
      "the change of \(key.path) by revision \(states.versions[index].revision) \(problem)"
    )
  }
}

extension Intent {
  /// The places where a client shows, until the answer has come, what it wants to be there.
  fileprivate var coveredPlaces: [Path] {
    switch self {
    case .post(let post, _, _), .editPost(let post, _, _), .star(let post), .unstar(let post),
      .starAs(let post, _), .editOther(let post, _):
      [Path([.posts, ChildKey(post)])]
    case .deletePost(let post):
      [Path([.posts, ChildKey(post)]), Path([.postComments, ChildKey(post)])]
    case .comment(let post, let comment, _), .deleteComment(let post, let comment):
      [CommentKey(post, comment).path]
    case .increment, .read, .administer: []
    }
  }
}
