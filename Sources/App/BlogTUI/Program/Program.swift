package import BlogModel

/// The loop that connects a terminal, the screens and a blog until the user leaves.
///
/// Loop: wait for keys, for events of the blog or for the next minute → update the model → perform
/// its effects → draw → perform the effects that can wait. The program is the only owner of the
/// model, and everything happens on the main actor; the blog's events cross over in an ``Inbox``.
@MainActor
package final class Program<Terminal: TerminalDevice> {
  package private(set) var model: Model
  /// What has failed or was not done since the last ``Event/command(_:)``, apart from earlier writes;
  /// nil if nothing.
  package private(set) var commandFailure: String?
  /// The number of writes that the blog has not acknowledged or refused yet.
  package var unanswered: Int { outstanding.count }

  private var outstanding: [BlogAction] = []
  /// Those of them that are older than the last command.
  private var earlier: [BlogAction] = []

  private let terminal: Terminal
  private let repository: any BlogRepository
  private let environment: Environment
  private let inbox: Inbox
  private var kept: Unsent
  private var keptAt: Int64
  /// Whether text may have been typed since the last save.
  private var mayBeUnkept = false
  private var shown: Screen?
  private var drawnRows = DrawnRows()
  private var ending: Ending?
  /// Effects without a visible result; performing them first would delay drawing.
  private var waiting: [Effect] = []
  /// The number of entries that are collected before they are remembered, which takes longer than
  /// drawing: the first screens must not wait for it.
  private let mostUnremembered = 32
  /// What has happened lately.
  private var unremembered: [RecordingEntry] = []

  /// Makes a program; nothing happens before ``run()``.
  ///
  /// It uses the terminal as it is and never closes it. `wake` ends the terminal's wait and may be
  /// called from any thread. Of what was typed earlier and not sent, the last post is offered
  /// first.
  package init(
    terminal: Terminal,
    repository: any BlogRepository,
    wake: @escaping @Sendable () -> Void,
    unsent: Unsent = Unsent(),
    configuration: Configuration = Configuration(),
    history: [String] = [],
    environment: Environment = Environment()
  ) {
    self.terminal = terminal
    self.repository = repository
    self.environment = environment
    kept = unsent
    keptAt = repository.now - keepInterval
    inbox = Inbox(wake: wake)
    let start = RecordingStart(
      me: repository.me,
      databaseName: repository.databaseName,
      size: terminal.size,
      isASCII: terminal.glyphs.repertoire == .ascii,
      now: repository.now,
      unsent: unsent,
      history: history
    )
    model = Model(start)
    record(.start(start))
    model.session.connection.isWithoutAccount = environment.isWithoutAccount
    send(.configured(configuration))
  }

  /// Adds an event from outside the loop; may be called from any thread.
  package nonisolated func add(_ event: Event) {
    inbox.add(event)
  }

  /// Runs until the user leaves or the terminal is gone, and returns which; blocks the caller.
  ///
  /// Afterwards ``Model/unsent`` holds what was typed and not sent.
  package func run() -> Ending {
    begin()
    while true {
      if let ending = turn(terminal.nextEvents(timeout: timeout)) { return ending }
    }
  }

  /// Follows the blog and draws the first screen: the first step of ``run()``.
  ///
  /// For callers that run several programs at once and call ``turn(_:)`` instead of ``run()``.
  package func begin() {
    repository.start { [inbox] in inbox.add(.blog($0)) }
    send(.started)
    draw()
  }

  /// Handles everything that has happened and draws; returns how the program ended, if it did.
  package func turn(_ events: [TerminalEvent]) -> Ending? {
    let unsent = model.session.writing.unsent
    send(.tick(now: repository.now))
    takeInbox()
    for event in events {
      handle(event)
      if let ending { return leave(ending) }
    }
    // The screen says that a draft is kept only once that is true.
    if unsent != model.session.writing.unsent { keep(isDurable: true) }
    draw()
    return nil
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .key(let key):
      repository.probe()
      send(.key(key))
      // The blog often answers immediately, so the next key sees the result.
      takeInbox()
    case .escaped(let key):
      let keys = model.binds(.alt(key)) ? [.alt(key)] : [.escape, key]
      for key in keys where ending == nil { handle(.key(key)) }
    case .unreadable(let input):
      if model.settings.isOn(.bell) { terminal.bell() }
      send(.failed(Message.unreadable(input).text.string))
    case .resumed:
      send(.resumed)
    case .woken:
      takeInbox()
    case .hangUp:
      ending = .hangUp
    case .terminate(let signal):
      ending = .terminated(signal: signal)
    }
  }

  private func takeInbox() {
    for event in Self.withoutOvertaken(inbox.takeAll()) { send(event) }
  }

  private func send(_ event: Event) {
    mayBeUnkept = true
    record(.event(event))
    if case .command = event {
      commandFailure = nil
      earlier = outstanding
    }
    let isOfEarlier = endsEarlierWrite(event)
    let failures = model.session.messages.failureCount
    for effect in update(&model, with: event) {
      if effect.canWait {
        waiting.append(effect)
      } else {
        // Effects keep their order, whether they waited or not.
        performWaiting()
        perform(effect)
      }
    }
    guard !isOfEarlier, model.session.messages.failureCount > failures else { return }
    let failure = model.session.messages.entries.last { $0.message.kind != .note }
    commandFailure = failure?.message.text.string ?? commandFailure
  }

  /// Removes a write that an event answers; returns whether it is older than the last command.
  private func endsEarlierWrite(_ event: Event) -> Bool {
    let answered: BlogAction
    switch event {
    case .blog(.succeeded(let action)), .blog(.failed(let action, _)): answered = action
    default: return false
    }
    if let index = outstanding.firstIndex(of: answered) { outstanding.remove(at: index) }
    guard let index = earlier.firstIndex(of: answered) else { return false }
    earlier.remove(at: index)
    return true
  }

  private func record(_ entry: RecordingEntry) {
    environment.record(entry)
    unremembered.append(entry)
  }

  private func remember() {
    guard !unremembered.isEmpty else { return }
    environment.remember(unremembered, model)
    unremembered = []
  }

  private func draw() {
    let screen = view(model, reusing: &drawnRows)
    if screen != shown {
      terminal.render(screen)
      shown = screen
    }
    performWaiting()
    if unremembered.count >= mostUnremembered { remember() }
  }

  private func performWaiting() {
    guard !waiting.isEmpty else { return }
    let effects = waiting
    waiting = []
    for effect in effects { perform(effect) }
  }

  /// How long to wait: no longer than typed text may stay unsaved.
  private var timeout: Duration? {
    guard let rest = keepIfDue() else { return model.nextTick }
    return min(rest, model.nextTick ?? rest)
  }

  /// Saves typed text at most a few times a second; returns the time to wait if it is too early.
  private func keepIfDue() -> Duration? {
    guard mayBeUnkept else { return nil }
    let passed = repository.now - keptAt
    // A clock that was set back is no reason to wait.
    guard passed >= keepInterval || passed < 0 else {
      return .milliseconds(keepInterval - passed)
    }
    keep(isDurable: false)
    return nil
  }

  private func keep(isDurable: Bool) {
    mayBeUnkept = false
    keptAt = repository.now
    let unsent = model.unsent
    guard
      unsent != kept || (isDurable && !unsent.isEmpty) || model.session.writing.keepProblem != nil
    else { return }
    let problem = environment.keep(unsent, isDurable)?.description
    if problem == nil { kept = unsent }
    guard problem != model.session.writing.keepProblem else { return }
    send(.kept(problem: problem))
    draw()
  }

  private func leave(_ ending: Ending) -> Ending {
    performWaiting()
    // However it ends, what the screen says is being deleted is deleted.
    for effect in model.session.writing.carryOutDeletions(until: .max) { perform(effect) }
    for feed in model.followedFeeds { repository.request(.stopFollowing(feed)) }
    if let id = model.openPostID { repository.request(.close(id)) }
    keep(isDurable: true)
    return ending
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .write(let action): attributed { write(action) }
    case .mark(let change): attributed { repository.mark(change) }
    case .request(let request): repository.request(request)
    case .search(let request?):
      repository.search(
        request.number,
        in: request.kind,
        withComments: request.pattern.looksAtTexts
      ) { request.matches($0, comments: $1) }
    case .search(nil): repository.stopSearching()
    case .terminal(let action): perform(action)
    case .environment(let action): perform(action)
    case .quit: ending = .quit
    case .changeAccount:
      if environment.canChangeAccount {
        ending = .changeAccount
      } else {
        send(.failed("There are no accounts here: your system login identifies you."))
      }
    }
  }

  /// Changes the blog, due to what the user has just done.
  private func attributed(_ change: () -> Void) {
    guard let cause = model.session.inspector.cause else { return change() }
    environment.attributeWrites(cause, change)
  }

  private func write(_ action: BlogAction) {
    let written = repository.perform(action)
    outstanding.append(written)
    if case .post(let id?, _, _) = written { send(.posted(id)) }
    if case .comment(let id, let comment?, _, _) = written {
      send(.commented(id, commentID: comment))
    }
  }

  private func perform(_ action: TerminalAction) {
    switch action {
    case .redraw:
      shown = nil
      terminal.redraw()
    case .suspend:
      terminal.suspend()
      send(.resumed)
    case .bell: if model.settings.isOn(.bell) { terminal.bell() }
    case .notify(let text): terminal.notify(text)
    case .copy(let text): terminal.copy(text)
    case .configure(let settings): terminal.apply(settings)
    }
  }

  private func perform(_ action: EnvironmentAction) {
    switch action {
    case .edit(let draft):
      tell(terminal.withSuspendedScreen { environment.edit?(draft) }) { .edited($0) }
      send(.resumed)
    case .editText(let draft, let post):
      tell(terminal.withSuspendedScreen { environment.editText?(draft, post) }) { .editedText($0) }
      send(.resumed)
    case .openLink(let link):
      tell(environment.openLink?(link)) { _ in .succeeded("Opened \(link)") }
    case .write(let text, let file):
      tell(environment.write?(text, file)) { .succeeded("Written to \($0)") }
    case .writeWire(let lines, let file):
      tell(environment.writeWire?(lines, file)) { .succeeded("Written to \($0)") }
    case .report(let file):
      remember()
      tell(environment.report?(model, file)) { .succeeded("The report is in \($0)") }
    case .keepHistory(let lines): environment.keepHistory(lines)
    case .keepSetting(let setting, let value):
      tell(environment.keepSetting(setting, value)) { _ in nil }
    case .watchWire(let isOn): environment.watchWire(isOn)
    case .network(let isOn): environment.setNetwork(isOn)
    case .run(let job): run(job)
    }
  }

  private func run(_ job: CommandJob) {
    let ended: @Sendable (CommandOutcome) -> Void = { [inbox] in inbox.add(.commandEnded($0)) }
    guard job.output == .terminal else { return environment.run(job, ended) }
    terminal.withSuspendedScreen { environment.run(job, ended) }
    send(.resumed)
  }

  private func tell<Value>(
    _ result: Result<Value, EnvironmentError>?,
    as event: (Value) -> Event?
  ) {
    switch result ?? .failure(.unavailable) {
    case .success(let value): if let event = event(value) { send(event) }
    case .failure(let error): send(.failed(error.description))
    }
  }
}

/// How long typed text may exist only in memory, in milliseconds.
private let keepInterval: Int64 = 250

extension Program {
  /// Drops events whose whole content is replaced by a later event.
  ///
  /// A burst then costs one update, and a row that leaves and returns does not flicker.
  static func withoutOvertaken(_ events: [Event]) -> [Event] {
    guard events.count > 1 else { return events }
    var seen: Set<EventSubject> = []
    let latest = events.reversed().filter { event in
      guard let subject = event.subject else { return true }
      return seen.insert(subject).inserted
    }
    return latest.reversed()
  }
}

extension Effect {
  /// Whether it only requests more data, which can wait until the known data has been drawn.
  fileprivate var canWait: Bool {
    switch self {
    case .request(.read), .request(.watchComments): true
    case .write, .mark, .request, .search, .terminal, .environment, .quit, .changeAccount: false
    }
  }
}
