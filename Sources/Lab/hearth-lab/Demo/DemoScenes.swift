import Foundation
import HearthProgram
import RealtimeCore
import RealtimeServer

/// The scenes of a presentation, each of which reports its outcome.
extension DemoDirector {
  func play(_ scene: DemoScene) {
    board.with { figures in
      figures.scene = scene
      figures.sentence = scene.sentence(for: plan.actors.map(\.name))
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
    guard plan.wishes.pace != nil else { return }
    rest(4_000)
    board.with { $0.scene = nil }
  }

  /// Leaves time to read, unless the user asks to continue.
  private func rest(_ milliseconds: Int64) {
    let time = Int64(Double(milliseconds) * (plan.wishes.pace ?? 0.5))
    _ = waits(for: time) { board.now.asked != nil }
    board.with { $0.asked = nil }
  }

  private typealias Outcome = DemoFigures.Outcome

  /// Waits until another person's screen shows a new post; false if none does.
  ///
  /// That person may have been in the middle of something when the post arrived, so the list is
  /// brought to its newest post again and again.
  private func arrives(_ title: String, from actor: DemoPlan.Actor) -> Bool {
    let other = plan.actors.last { $0.pane != actor.pane }?.pane
    for _ in 0..<20 where !hasEnded {
      if let other { showNewest(in: [other]) }
      if appears(Self.mark(of: title), in: other ?? plan.own, within: Self.patience / 20) {
        return true
      }
    }
    return false
  }

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
    let others = max(0, found.given - count)
    let more = others == 0 ? "" : " and \(others) of others"
    return Outcome(
      text: "\(ProgressLine.count(count, "star")) at once\(more): \(found.given) given, "
        + "\(found.counted) counted",
      isRight: isRight
    )
  }

  /// Waits until the post is the selected one.
  private func isOnTop(_ title: String, of actor: DemoPlan.Actor) -> Bool {
    // A post that arrives after the jump is not selected, so the jump is repeated.
    for _ in 0..<20 where !hasEnded {
      showNewest(in: [actor.pane])
      let isSelected = waits(for: Self.patience / 20) {
        selectedRow(of: actor)?.contains(Self.mark(of: title)) ?? false
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
    let arrived = arrives(title, from: actor)
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
    let arrived = arrives(title, from: actor)
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
  case kill

  var title: String {
    switch self {
    case .race: "Race on one star"
    case .cable: "Pulled cable"
    case .refusal: "Refused write"
    case .kill: "Killed server"
    }
  }

  /// What to watch for, when these people are at the terminals.
  func sentence(for people: [String]) -> String {
    switch self {
    case .race:
      "\(people.joined(separator: ", ")) press\(people.count == 1 ? "es" : "") s on the same post "
        + "at once; watch its count."
    case .cable:
      "\(people.last ?? "") is cut off and goes on writing; watch that status line, then the others."
    case .refusal:
      "mallory, who is not signed in, presses s; watch the star go back, and which rule says so here."
    case .kill: "kill -9 hits the server; watch the terminals go on with a new one."
    }
  }
}

/// The rules for clients that connect to the port of a demonstration.
enum DemoRules {
  static let source = """
    {
      "rules": {
        ".read": true,
        "posts": { "$post": { ".write": "auth != null" } }
      }
    }
    """

  /// The rule that keeps a client that is not signed in from writing at a path.
  static func explanation(of path: String, in root: JSONValue) -> String? {
    guard let rules = try? RuleSet(source: source), let before = try? Node(json: root) else {
      return nil
    }
    let place = Path(wire: path)
    let decision = rules.canWrite(
      [place],
      by: .nobody,
      now: 0,
      from: before,
      to: before.setting(place, to: .leaf(.bool(true))),
      explaining: true
    )
    guard !decision.isAllowed, let rule = decision.explanation.decisive else { return nil }
    return "\(rule.rulePath) wants \(rule.expression)"
  }
}
