import BlogSwarm
import Foundation
import RealtimeCore

/// Has the people of a demonstration act at their terminals, on a thread of its own.
///
/// They see what they do on their own screens, as everybody else does on theirs: the director types
/// keys, and looks at screens.
final class DemoDirector {
  /// How long a thing may take to appear, in milliseconds.
  static let patience: Int64 = 60_000

  let plan: DemoPlan
  let place: DemoPlace
  let terminals: any DemoTerminals
  let board: DemoBoard
  let meter: DemoMeter
  let cable: DemoCable?
  private var random: SeededGenerator
  private var serial = 0

  /// Makes a director.
  init(
    _ plan: DemoPlan,
    place: DemoPlace,
    terminals: any DemoTerminals,
    board: DemoBoard,
    meter: DemoMeter,
    cable: DemoCable?
  ) {
    self.plan = plan
    self.place = place
    self.terminals = terminals
    self.board = board
    self.meter = meter
    self.cable = cable
    random = SeededGenerator(seed: plan.seed)
  }

  /// Whether it is over.
  var hasEnded: Bool { board.now.hasEnded }

  /// Has them act until the demonstration is over.
  func run() {
    for actor in plan.actors {
      _ = appears("online", in: actor.pane)
      // Their lists stay with the newest post, so that all show the same.
      terminals.press(["F"], in: [actor.pane])
    }
    if plan.presents {
      act(times: 4)
      for scene in DemoScene.allCases where !hasEnded && isPossible(scene) {
        play(scene)
        act(times: 2)
      }
      if plan.seconds == nil { board.with { $0.hasEnded = true } }
    }
    while !hasEnded { act(times: 1) }
  }

  /// A database elsewhere is not ours to pull cables of, or to kill.
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
      // Where there is no post yet, nothing can be starred or said about one.
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

  /// Writes a post, and measures how long it takes to be on another screen.
  private func post(_ actor: DemoPlan.Actor) {
    let title = nextTitle(by: actor)
    write(title, by: actor)
    let others = plan.actors.filter { $0.pane != actor.pane }.map(\.pane)
    let other = others.randomElement(using: &random) ?? plan.own
    showNewest(in: others)
    let start = ContinuousClock.now
    terminals.press(["C-s"], in: [actor.pane])
    // Somebody who looks elsewhere never shows it, and nobody waits for that for long.
    guard appears(title, in: other, within: Self.patience / 3) else { return }
    let time = Int64((ContinuousClock.now - start) / .microseconds(1))
    board.with { $0.latencies.record(microseconds: time) }
  }

  /// Brings the newest posts into view, where people act; the user looks where they like.
  func showNewest(in panes: [TmuxServer.Pane]) {
    terminals.press(["1", "."], in: panes)
  }

  /// Writes a post that nobody has written before.
  ///
  /// - Returns: Its title.
  func nextTitle(by actor: DemoPlan.Actor) -> String {
    serial += 1
    return "\(actor.name) \(serial): \(Self.subjects[serial % Self.subjects.count])"
  }

  /// Types a post, which is not sent yet.
  func write(_ title: String, by actor: DemoPlan.Actor) {
    terminals.press(["c"], in: [actor.pane])
    // What is typed too early would be taken for commands.
    guard appears("New post", in: actor.pane) else { return }
    terminals.type(title, in: actor.pane)
    terminals.press(["Tab"], in: [actor.pane])
    terminals.type("Written at a terminal, read at all of them.", in: actor.pane)
    _ = appears(title, in: actor.pane)
  }

  private func comment(_ actor: DemoPlan.Actor) {
    serial += 1
    let text = "Comment \(serial) by \(actor.name)"
    terminals.press(["g", "g", "Enter"], in: [actor.pane])
    // What is typed too early would be taken for commands.
    guard appears("c comment", in: actor.pane) else { return }
    terminals.press(["c"], in: [actor.pane])
    if appears("Enter send", in: actor.pane) {
      terminals.type(text, in: actor.pane)
      _ = appears(text, in: actor.pane)
      terminals.press(["Enter"], in: [actor.pane])
      _ = appears("c comment", in: actor.pane)
    }
    // From a post this leads to the list; in a list it changes nothing.
    terminals.press(["1"], in: [actor.pane])
  }

  private static let subjects = ["tea", "rain", "trains", "bread", "maps", "owls", "rivers"]

  // MARK: Looking

  /// Waits until a terminal shows a text; false if it does not.
  func appears(_ text: String, in pane: TmuxServer.Pane, within time: Int64? = nil) -> Bool {
    waits(for: time ?? Self.patience) { terminals.screen(of: pane).contains(text) }
  }

  /// Waits until something is so; false if it does not come true in time, or all is over.
  func waits(for milliseconds: Int64, _ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while ContinuousClock.now < end, !hasEnded {
      if condition() { return true }
      DemoBeat.wait(milliseconds: 4)
    }
    return false
  }

  /// Lets time pass for those who look on.
  func pause(_ milliseconds: Int64) {
    _ = waits(for: milliseconds) { false }
  }

  /// Notes what all terminals show together: writes that wait, and whether they show the same.
  private func noteScreens() {
    let screens = (plan.actors.map(\.pane) + [plan.own]).map { terminals.screen(of: $0) }
    let pending = screens.reduce(0) { $0 + Self.pending(on: $1) }
    board.with {
      $0.pending = pending
      $0.agreement = DemoAgreement(screens)
    }
  }

  /// The number before "not acknowledged" on a status line, or after its sign on a narrow one.
  static func pending(on screen: String) -> Int {
    guard let status = screen.split(separator: "\n").last else { return 0 }
    if let match = status.firstMatch(of: #/(\d+) not acknowledged/#) { return Int(match.1) ?? 0 }
    if let match = status.firstMatch(of: #/◌(\d+)/#) { return Int(match.1) ?? 0 }
    return 0
  }

  /// The data of the database, past the client library.
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
