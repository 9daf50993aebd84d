import BlogModel
import Dispatch
import RealtimeCore
import RealtimeDatabase

// Safety: every mutable property is touched only on `queue`, which is also the database's own.
/// One user of a swarm without a screen, who follows the plan and records everything seen.
final class SwarmUser: @unchecked Sendable {
  let settings: SwarmSettings
  let number: Int
  let me: Author
  let database: Database
  let blog: Blog
  let stars: SwarmStars
  let history: HistoryWriter
  /// Reads at each of several servers; nil where there is only one.
  let reader: SwarmReader?
  let queue: DispatchQueue
  /// Collects what is acknowledged for whoever watches the run.
  let pulse: SwarmPulse?
  /// The user IDs whose posts this user works with; empty for everybody's.
  let members: Set<String>

  var plan: ArraySlice<PlannedOperation> = []
  var start: Moment?
  var tally = SwarmTally()
  var views: [String: SwarmView] = [:]
  var posts: [PostID: Post] = [:]
  /// The keys of the posts that everybody works with, by title.
  var hotPosts: [String: PostID] = [:]
  /// The posts whose star is being changed.
  var starring: Set<PostID> = []
  /// How many operations have no answer yet.
  var unanswered = 0
  /// How often the user has read back what it had written.
  var readBacks = 0
  var pendingWrites = 0
  var isConnected = false
  /// Whether nothing is recorded any more.
  private var isGone = false
  var bug: InjectedBug?
  /// The comments of this process that were acknowledged and not deleted since.
  var acknowledgedComments: [OwnComment] = []
  /// What has arrived but is not on the screen yet.
  var unshown: [(view: String, post: PostID, content: Showing.Content)] = []
  /// The last node received for each child of each view.
  var told: [String: [String: Node]] = [:]
  /// How many operations of this user are under way on each child of each view.
  var touched: [String: [String: Int]] = [:]
  /// The content last shown for each post, which an injected bug shows once more.
  var lastShown: [PostID: Showing.Content] = [:]
  let born = Moment.now
  /// The presence that the user announces to the others.
  private let presence: EphemeralValue?

  struct OwnComment: Hashable {
    let post: PostID
    let key: String
  }

  /// Whether the user announces its presence and records everything it sees.
  var isWatcher: Bool { number < settings.watchers }

  /// The name of a user in histories, which is also the name of its file.
  static func clientName(_ number: Int) -> String { "u\(number)" }

  /// Creates a user that does nothing yet, of a database that has not been used.
  init(
    number: Int,
    settings: SwarmSettings,
    database: Database,
    history: HistoryWriter,
    reader: SwarmReader? = nil,
    pulse: SwarmPulse? = nil
  ) {
    self.reader = reader
    self.pulse = pulse
    self.number = number
    self.settings = settings
    self.database = database
    self.history = history
    me = Author(uid: settings.uid(number), name: SwarmSettings.name(number))
    members = Set(settings.uids)
    queue = DispatchQueue(label: "hearth.swarm.user")
    database.callbackQueue = queue
    blog = Blog(database: database, me: me, stars: settings.stars.method)
    stars = SwarmStars(in: blog, by: settings.stars)
    let reference = blog.paths.presence(of: me.uid).child(Self.clientName(number))
    presence = number < settings.watchers ? EphemeralValue(at: reference) : nil
  }

  /// The path below `presence` at which the user announces itself, or nil.
  static func presence(ofUser number: Int, settings: SwarmSettings) -> String? {
    number < settings.watchers ? "\(settings.uid(number))/\(clientName(number))" : nil
  }

  /// Connects and starts to follow the lists.
  func enter() {
    queue.async { [self] in
      if isWatcher {
        countAttempts()
        watchTheMachine()
      }
      // Whoever is here goes by the name of the account.
      if presence != nil { blog.paths.user(me.uid).child("username").setValue(me.name) { _, _ in } }
      database.observeConnection { [weak self] status in self?.connectionChanged(status) }
      look(at: recentView)
      if isWatcher { look(at: topView) }
    }
  }

  /// Starts the plan and skips operations that are overdue by then.
  func begin(at start: Moment, with operations: [PlannedOperation]) {
    queue.async { [self] in
      self.start = start
      let now = Moment.now.since(start)
      plan = operations.drop { Duration.microseconds($0.at) < now }
      scheduleNext()
    }
  }

  func finish() {
    queue.async { [self] in plan = [] }
  }

  /// Behaves according to an injected bug from now on.
  func misbehave(_ bug: InjectedBug) {
    queue.async { [self] in self.bug = bug }
  }

  /// How much is under way: operations planned or unanswered, and writes not yet sent.
  func pending() async -> Int {
    await onQueue { user in
      let isReady = user.isConnected && user.views.values.allSatisfy { $0.shown != nil }
      return user.plan.count + user.unanswered + user.pendingWrites + (isReady ? 0 : 1)
    }
  }

  /// A digest of each view; the digests of equal views are equal.
  func digests() async -> [String: String] {
    await onQueue { user in user.views.mapValues { $0.finalView?.digest ?? "" } }
  }

  /// Records the final views, and returns what was done.
  func conclude() async -> SwarmTally {
    await onQueue { user in
      for view in user.views.values.sorted(by: { $0.name < $1.name }) {
        user.noteComments(in: view.name)
        if let finalView = view.finalView { user.history.append(.finalView(finalView)) }
      }
      return user.tally
    }
  }

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable (SwarmUser) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body(self)) }
    }
  }

  /// Ends the history and closes the database.
  func leave() async {
    queue.sync { isGone = true }
    history.append(.ended)
    history.close()
    await database.close()
  }

  // MARK: The machine

  /// How often the user measures the delays of the machine.
  private static let heartbeat = Duration.milliseconds(200)

  /// Records when the machine delays what depends on neither the network nor the server.
  ///
  /// Local values of the library reach the user by the same path as data from the server.
  private func watchTheMachine() {
    guard !isGone else { return }
    let start = Moment.now
    database.reference(withPath: ".info/connected").observeSingleEvent(of: .value) {
      [weak self] _ in
      guard let self else { return }
      let delay = Moment.now.since(start)
      if delay > Self.heartbeat { self.history.append(.stalled(microseconds: delay.microseconds)) }
      let due = Moment.now.advanced(by: Self.heartbeat)
      self.queue.asyncAfter(deadline: .now() + Self.heartbeat / .seconds(1)) { [weak self] in
        let late = Moment.now.since(due)
        if late > Self.heartbeat {
          self?.history.append(.stalled(microseconds: late.microseconds))
        }
        self?.watchTheMachine()
      }
    }
  }

  // MARK: The connection

  private func connectionChanged(_ status: ConnectionStatus) {
    pendingWrites = status.pendingWrites
    let isConnected = status.phase == .connected
    guard isConnected != self.isConnected else { return }
    self.isConnected = isConnected
    history.append(.connection(isUp: isConnected))
    guard isConnected else {
      presence?.disconnected()
      return
    }
    tally.connections += 1
    for name in views.keys { views[name]?.isListDue = true }
    presence?.put([
      "name": me.name, "terminal": Self.clientName(number), "since": database.serverTime,
    ])
  }

  private func countAttempts() {
    database.observeDiagnostics { [queue, weak self] diagnostic in
      guard let step = diagnostic.transactionStep else { return }
      queue.async { [weak self] in
        switch step {
        case .beginning: break
        case .attempt(let number): self?.tally.countAttempt(number: number)
        case .end: self?.tally.transactions += 1
        }
      }
    }
  }
}
