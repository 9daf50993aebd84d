import Foundation
import HearthLab
import HearthProgram
import RealtimeCore

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
  let cable: Cable?
  private var random: SeededGenerator
  private var serial = 0

  init(
    _ plan: DemoPlan,
    folder: DemoFolder,
    terminals: any DemoTerminals,
    board: DemoBoard,
    meter: DemoMeter,
    cable: Cable?
  ) {
    self.plan = plan
    self.folder = folder
    self.terminals = terminals
    self.board = board
    self.meter = meter
    self.cable = cable
    random = SeededGenerator(seed: plan.wishes.seed)
  }

  /// Begins everything that goes on behind the terminals, and returns what can do harm to it.
  static func begin(
    _ plan: DemoPlan,
    in folder: DemoFolder,
    at terminals: any DemoTerminals,
    _ board: DemoBoard
  ) throws -> DemoNemesis {
    let cable = plan.wishes.database == nil ? Cable(to: folder.socket) : nil
    try cable?.lay(at: folder.cable)
    let url = plan.wishes.database ?? DemoFolder.url(folder.socket)
    let meter = try DemoMeter(url, board: board, figuresFile: folder.figures)
    let crowd = DemoCrowd(url: url, board: board)
    // The main thread belongs to the terminal.
    Task.detached { await meter.run() }
    Task.detached { await crowd.run() }
    Thread.detachNewThread {
      DemoDirector(
        plan,
        folder: folder,
        terminals: terminals,
        board: board,
        meter: meter,
        cable: cable
      ).run()
    }
    return DemoNemesis(plan, folder: folder, url: url, board: board, cable: cable)
  }

  var hasEnded: Bool { board.now.hasEnded }

  /// Directs the actors until the demonstration is over.
  func run() {
    for actor in plan.actors {
      _ = appears("online", in: actor.pane)
      // Keeps their lists at the newest post, so that all show the same.
      terminals.press(["F"], in: [actor.pane])
    }
    if plan.wishes.presents {
      act(times: 4)
      let scenes = DemoScene.allCases.filter(isPossible)
      if plan.wishes.pace == nil { follow(through: scenes) } else { play(scenes) }
    }
    while !hasEnded { act(times: 1) }
  }

  /// Plays all scenes, one after the other.
  private func play(_ scenes: [DemoScene]) {
    for scene in scenes where !hasEnded {
      play(scene)
      act(times: 2)
    }
    if plan.wishes.seconds == nil { board.with { $0.hasEnded = true } }
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
    case .cable: cable != nil && plan.hasSomebodyAtCable
    case .refusal: plan.stranger != nil
    case .kill: plan.wishes.database == nil
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
    board.with { $0.sentAt = start }
    defer { board.with { $0.sentAt = nil } }
    terminals.press(["C-s"], in: [actor.pane])
    // A list that was elsewhere is brought back, but then no time was measured.
    guard appears(Self.mark(of: title), in: other, within: Self.patience / 10) else {
      if other != plan.own { showNewest(in: [other]) }
      return
    }
    let time = Int64((ContinuousClock.now - start) / .microseconds(1))
    board.with { figures in
      figures.latencies.record(microseconds: time)
      figures.delay = time
    }
  }

  /// Brings the newest posts into view on the actors' terminals; the user's is left alone.
  func showNewest(in panes: [TmuxServer.Pane]) {
    terminals.press(["1", "."], in: panes)
  }

  /// Makes up a title that has not been used before.
  func nextTitle(by actor: DemoPlan.Actor) -> String {
    serial += 1
    return "\(actor.name) \(serial): \(Self.posts[serial % Self.posts.count].title)"
  }

  /// The beginning of a title, which no other post has and every list has room for.
  static func mark(of title: some StringProtocol) -> String {
    title.firstIndex(of: ":").map { String(title[...$0]) } ?? String(title.prefix(8))
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
    // Lines and the title may be too long for the form, but no word is.
    _ = text.split(separator: " ").last.map { appears(String($0), in: actor.pane) }
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
    DemoBeat.wait { [meter] in await meter.root() } ?? nil
  }
}
