import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport

/// Directs the actors of a demonstration at their terminals, on a thread of its own.
///
/// The director types keys and reads screens, so everyone sees each action on their own screen.
final class DemoDirector {
  /// How long something may take to appear, in milliseconds.
  static let patience: Int64 = 60_000

  let plan: DemoPlan
  let folder: DemoFolder
  let terminals: any DemoTerminals
  let board: DemoBoard
  let meter: DemoMeter
  let cable: DemoCable?
  private var random: SeededGenerator
  private var serial = 0

  /// Makes a director.
  init(
    _ plan: DemoPlan,
    folder: DemoFolder,
    terminals: any DemoTerminals,
    board: DemoBoard,
    meter: DemoMeter,
    cable: DemoCable?
  ) {
    self.plan = plan
    self.folder = folder
    self.terminals = terminals
    self.board = board
    self.meter = meter
    self.cable = cable
    random = SeededGenerator(seed: plan.seed)
  }

  /// Whether the demonstration is over.
  var hasEnded: Bool { board.now.hasEnded }

  /// Directs the actors until the demonstration is over.
  func run() {
    for actor in plan.actors {
      _ = appears("online", in: actor.pane)
      // Keeps their lists at the newest post, so that all show the same.
      terminals.press(["F"], in: [actor.pane])
    }
    if plan.presents {
      act(times: 4)
      let scenes = DemoScene.allCases.filter(isPossible)
      if plan.pace == nil { follow(through: scenes) } else { play(scenes) }
    }
    while !hasEnded { act(times: 1) }
  }

  /// Plays all scenes, one after the other.
  private func play(_ scenes: [DemoScene]) {
    for scene in scenes where !hasEnded {
      play(scene)
      act(times: 2)
    }
    if plan.seconds == nil { board.with { $0.hasEnded = true } }
  }

  /// Plays the scenes when the speaker says so; meanwhile, life goes on.
  private func follow(through scenes: [DemoScene]) {
    var next = 0
    while !hasEnded {
      board.with { $0.upcoming = next < scenes.count ? scenes[next] : nil }
      var step = board.takeStep()
      while step == nil, !hasEnded {
        act(times: 1)
        step = board.takeStep()
      }
      switch step {
      case .back?:
        next = max(0, next - 1)
        board.with { $0.isOver = false }
      case .next? where next < scenes.count:
        play(scenes[next])
        next += 1
      case .next?: board.with { $0.isOver = true }
      case nil: break
      }
    }
  }

  /// The cable and the server of a remote database are not this program's to pull or kill.
  private func isPossible(_ scene: DemoScene) -> Bool {
    switch scene {
    case .race: true
    case .cable: cable != nil
    case .refusal: plan.stranger != nil
    case .kill: plan.database == nil
    }
  }

  // MARK: Acting

  private func act(times: Int) {
    for _ in 0..<times where !hasEnded {
      guard let actor = plan.actors.randomElement(using: &random) else { return pause(500) }
      // Without a post, there is nothing to star or comment on.
      switch serial == 0 ? 0 : Int.random(in: 0..<10, using: &random) {
      case 0...3: post(actor)
      case 4...6: comment(actor)
      case 7: terminals.press(["j"], in: [actor.pane])
      default: terminals.press(["s"], in: [actor.pane])
      }
      pause(300)
      noteScreens()
    }
  }

  /// Writes a post, and measures how long it takes to appear on another screen.
  private func post(_ actor: DemoPlan.Actor) {
    let title = nextTitle(by: actor)
    write(title, by: actor, text: Self.posts[serial % Self.posts.count].text)
    let others = plan.actors.filter { $0.pane != actor.pane }.map(\.pane)
    let other = others.randomElement(using: &random) ?? plan.own
    showNewest(in: others)
    let start = ContinuousClock.now
    terminals.press(["C-s"], in: [actor.pane])
    // An actor on another page never shows it, so the wait is short.
    guard appears(title, in: other, within: Self.patience / 3) else { return }
    let time = Int64((ContinuousClock.now - start) / .microseconds(1))
    board.with { $0.latencies.record(microseconds: time) }
  }

  /// Brings the newest posts into view on the actors' terminals; the user's is left alone.
  func showNewest(in panes: [TmuxServer.Pane]) {
    terminals.press(["1", "."], in: panes)
  }

  /// Makes up a title that has not been used before.
  ///
  /// - Returns: The title.
  func nextTitle(by actor: DemoPlan.Actor) -> String {
    serial += 1
    return "\(actor.name) \(serial): \(Self.posts[serial % Self.posts.count].title)"
  }

  /// Types a post without sending it.
  func write(
    _ title: String,
    by actor: DemoPlan.Actor,
    text: String = "Written at a terminal, read at all of them."
  ) {
    terminals.press(["c"], in: [actor.pane])
    // Text typed too early would be taken for commands.
    guard appears("New post", in: actor.pane) else { return }
    terminals.type(title, in: actor.pane)
    terminals.press(["Tab"], in: [actor.pane])
    terminals.type(text, in: actor.pane)
    _ = appears(title, in: actor.pane)
  }

  private func comment(_ actor: DemoPlan.Actor) {
    serial += 1
    terminals.press(["g", "g", "Enter"], in: [actor.pane])
    comment("Comment \(serial) by \(actor.name)", by: actor)
  }

  /// Comments on the post that is being opened, and goes back to the list.
  func comment(_ text: String, by actor: DemoPlan.Actor) {
    // Text typed too early would be taken for commands.
    guard appears("c comment", in: actor.pane) else { return }
    terminals.press(["c"], in: [actor.pane])
    if appears("Enter send", in: actor.pane) {
      terminals.type(text, in: actor.pane)
      _ = appears(text, in: actor.pane)
      terminals.press(["Enter"], in: [actor.pane])
      _ = appears("c comment", in: actor.pane)
    }
    // From a post this leads to the list; in a list it has no effect.
    terminals.press(["1"], in: [actor.pane])
  }

  /// What people write about.
  private static let posts: [(title: String, text: String)] = [
    (
      "rain on a tin roof",
      "It began at four and has not stopped. I have moved the desk to the window."
    ),
    ("bread, day nine", "The dough has learned to wait. So have I: 18 hours, and the crust sings."),
    ("trains that run late", "Nobody minds in the dining car. Somebody has brought a chessboard."),
    ("maps of small towns", "The best ones are wrong in a way that only their makers would be."),
    (
      "owls in the car park",
      "Two of them, on the lamp above the ticket machine, every night at eleven."
    ),
    ("rivers after a thaw", "You hear it before you see it. By noon the ford was gone."),
    ("tea for six", "One pot, three languages, and a long argument about whether milk goes first."),
  ]

  // MARK: Looking

  /// Waits until a terminal shows a text; false if it does not.
  func appears(_ text: String, in pane: TmuxServer.Pane, within time: Int64? = nil) -> Bool {
    waits(for: time ?? Self.patience) { terminals.screen(of: pane).contains(text) }
  }

  /// Waits for a condition; false if it does not hold in time, or the demonstration has ended.
  func waits(for milliseconds: Int64, _ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while ContinuousClock.now < end, !hasEnded {
      if condition() { return true }
      DemoBeat.wait(milliseconds: 4)
    }
    return false
  }

  /// Gives viewers some time.
  func pause(_ milliseconds: Int64) {
    _ = waits(for: milliseconds) { false }
  }

  /// Records what all terminals show together: pending writes, and whether they show the same list.
  private func noteScreens() {
    let screens = (plan.actors.map(\.pane) + [plan.own]).map { terminals.screen(of: $0) }
    let pending = screens.reduce(0) { $0 + Self.pending(on: $1) }
    board.with {
      $0.pending = pending
      $0.agreement = DemoAgreement(screens)
    }
  }

  /// The number of pending writes on a status line, in its long or its short form.
  static func pending(on screen: String) -> Int {
    guard let status = screen.split(separator: "\n").last else { return 0 }
    if let match = status.firstMatch(of: #/(\d+) not acknowledged/#) { return Int(match.1) ?? 0 }
    if let match = status.firstMatch(of: #/◌(\d+)/#) { return Int(match.1) ?? 0 }
    return 0
  }

  /// The data of the database, read without the client library.
  func root() -> JSONValue? {
    let meter = meter
    let answer = DispatchSemaphore(value: 0)
    let box = DemoAnswer()
    Task {
      box.set(await meter.root())
      answer.signal()
    }
    answer.wait()
    return box.value
  }
}

/// The scenes of a presentation, each of which reports its outcome.
extension DemoDirector {
  /// Plays a scene.
  func play(_ scene: DemoScene) {
    board.with { figures in
      figures.scene = scene
      figures.upcoming = nil
      figures.asked = nil
    }
    rest(3_000)
    let outcome =
      switch scene {
      case .race: race()
      case .cable: pullCable()
      case .refusal: refuse()
      case .kill: killServer()
      }
    guard !hasEnded else { return }
    board.with { $0.outcomes.append(outcome) }
    // A speaker says when it goes on.
    guard plan.pace != nil else { return }
    rest(4_000)
    board.with { $0.scene = nil }
  }

  /// Leaves time to read, unless the user asks to continue.
  private func rest(_ milliseconds: Int64) {
    let time = Int64(Double(milliseconds) * (plan.pace ?? 0.5))
    _ = waits(for: time) { board.now.asked != nil }
    board.with { $0.asked = nil }
  }

  private typealias Outcome = DemoFigures.Outcome

  // MARK: Race

  private func race() -> DemoFigures.Outcome {
    guard let author = plan.actors.first else {
      return Outcome(text: "nobody is here", isRight: false)
    }
    let title = "Race \(nextTitle(by: author))"
    write(title, by: author)
    terminals.press(["C-s"], in: [author.pane])
    for actor in plan.actors where !isOnTop(title, of: actor) {
      return Outcome(text: "\(actor.name) does not see \(title)", isRight: false)
    }
    terminals.press(["s"], in: plan.actors.map(\.pane))
    let count = plan.actors.count
    var found: (counted: Int64, given: Int) = (0, 0)
    let isRight = waits(for: Self.patience) {
      guard let root = root(), let stars = DemoAudit.stars(of: title, in: root) else {
        return false
      }
      found = stars
      // Others may star the post as well.
      return stars.given >= count && stars.counted == Int64(stars.given)
    }
    return Outcome(
      text:
        "\(ProgressLine.count(count, "star")) at once: \(found.given) given, \(found.counted) counted",
      isRight: isRight
    )
  }

  /// Waits until the post is the selected one.
  private func isOnTop(_ title: String, of actor: DemoPlan.Actor) -> Bool {
    // A post that arrives after the jump is not selected, so the jump is repeated.
    for _ in 0..<20 where !hasEnded {
      showNewest(in: [actor.pane])
      let isSelected = waits(for: Self.patience / 20) {
        selectedRow(of: actor)?.contains(title.prefix(12)) ?? false
      }
      if isSelected { return true }
    }
    return false
  }

  /// The selected row of the list that a person sees.
  func selectedRow(of actor: DemoPlan.Actor) -> Substring? {
    terminals.screen(of: actor.pane).split(separator: "\n")
      .first { $0.hasPrefix("▌") || $0.hasPrefix(">") }
  }

  // MARK: Cable

  private func pullCable() -> DemoFigures.Outcome {
    guard let actor = plan.actors.last, let cable else {
      return Outcome(text: "there is no cable", isRight: false)
    }
    let title = nextTitle(by: actor)
    cable.set(isPlugged: false)
    let isOff = waits(for: Self.patience) {
      terminals.screen(of: actor.pane).contains("offline")
    }
    write(title, by: actor)
    terminals.press(["C-s"], in: [actor.pane])
    pause(1_500)
    let wasHidden = root().map { DemoAudit.count(of: title, in: $0) == 0 } ?? false
    cable.set(isPlugged: true)
    let actors = plan.actors.dropLast().map(\.pane)
    showNewest(in: actors)
    let others = actors + [plan.own]
    let arrived = others.first.map { appears(title, in: $0, within: 60_000) } ?? false
    // A duplicate would have arrived by then.
    pause(1_000)
    let count = root().map { DemoAudit.count(of: title, in: $0) } ?? 0
    let times = count == 1 ? "once" : "\(count) times"
    return Outcome(
      text: "\(actor.name) wrote one post offline: it arrived \(times)"
        + (!isOff
          ? ", but the terminal did not say that it was offline"
          : !wasHidden
            ? ", but too early" : arrived ? "" : ", but was not seen elsewhere in time"),
      isRight: isOff && wasHidden && arrived && count == 1
    )
  }

  // MARK: Refusal

  private func refuse() -> DemoFigures.Outcome {
    guard let stranger = plan.stranger, let before = root(),
      let post = before["posts"]?.members?.last
    else { return Outcome(text: "there is no post", isRight: false) }
    let pane = stranger.pane
    // Other people's lists may move; this one must select the post first.
    guard let title = post.value["title"]?.string, isOnTop(title, of: stranger) else {
      return Outcome(text: "\(stranger.name) sees no post", isRight: false)
    }
    terminals.press(["s"], in: [pane])
    let isTold = appears("not saved", in: pane)
    let stars = root()?["posts"]?.members?.flatMap { $0.value["stars"]?.members ?? [] }
    let isUnchanged = stars.map { !$0.contains { $0.name == stranger.name } } ?? false
    let rule = DemoRules.explanation(of: "/posts/\(post.name)", in: before) ?? "no rule allows it"
    return Outcome(
      text: "\(stranger.name) was told that the star was not saved: \(rule)",
      isRight: isTold && isUnchanged
    )
  }

  // MARK: Server

  private func killServer() -> DemoFigures.Outcome {
    guard let server = folder.serverProcess, let before = root(), let actor = plan.actors.first
    else {
      return Outcome(text: "there is no server", isRight: false)
    }
    let posts = Set((before["posts"]?.members ?? []).map(\.name))
    kill(server, SIGKILL)
    DemoStage.restartServer(in: folder)
    let title = nextTitle(by: actor)
    write(title, by: actor)
    terminals.press(["C-s"], in: [actor.pane])
    let other = plan.actors.last?.pane ?? plan.own
    if plan.actors.count > 1 { showNewest(in: [other]) }
    let arrived = appears(title, in: other, within: 60_000)
    let after = Set((root()?["posts"]?.members ?? []).map(\.name))
    let kept = posts.intersection(after).count
    let next = folder.serverProcess ?? 0
    return Outcome(
      text:
        "server \(server) was killed, \(next) went on: \(kept) of \(ProgressLine.count(posts.count, "post")) kept"
        + (arrived ? "" : ", but the next post was not seen in time"),
      isRight: arrived && kept == posts.count && next > 0 && next != server
    )
  }
}

/// A part of a presentation: something that goes wrong with other programs, but not with this one.
enum DemoScene: CaseIterable, Hashable, Sendable {
  /// Everyone stars the same post at once.
  case race
  /// One terminal is cut off, continues, and reconnects.
  case cable
  /// A write is refused by a rule.
  case refusal
  /// The server is killed.
  case kill

  /// The title.
  var title: String {
    switch self {
    case .race: "Race on one star"
    case .cable: "Pulled cable"
    case .refusal: "Refused write"
    case .kill: "Killed server"
    }
  }

  /// What to watch for.
  var sentence: String {
    switch self {
    case .race: "All terminals press s on the same post at once; watch its count."
    case .cable: "carol is cut off and goes on writing; watch her status line, then the others."
    case .refusal:
      "mallory, who is not signed in, presses s; watch the star go back, and which rule says so here."
    case .kill: "kill -9 hits the server; watch the terminals go on with a new one."
    }
  }
}

/// An answer passed from a task to a thread.
final class DemoAnswer: Sendable {
  private let box = NIOLockedValueBox<JSONValue?>(nil)

  /// The answer, once it has arrived.
  var value: JSONValue? { box.withLockedValue { $0 } }

  /// Stores the answer.
  func set(_ value: JSONValue?) { box.withLockedValue { $0 = value } }
}
