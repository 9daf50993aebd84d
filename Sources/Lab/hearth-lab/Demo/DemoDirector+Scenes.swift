import Foundation
import RealtimeCore
import RealtimeTransport
import SecurityRules

/// The scenes of a presentation, each of which says what came of it.
extension DemoDirector {
  /// Shows a scene.
  func play(_ scene: DemoScene) {
    board.with { figures in
      figures.scene = scene
      figures.isAskedToGoOn = false
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
    rest(4_000)
    board.with { $0.scene = nil }
  }

  /// Leaves time to read, until the user wants to go on.
  private func rest(_ milliseconds: Int64) {
    let time = Int64(Double(milliseconds) * plan.pace)
    _ = waits(for: time) { board.now.isAskedToGoOn }
    board.with { $0.isAskedToGoOn = false }
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
      // Others may star it too.
      return stars.given >= count && stars.counted == Int64(stars.given)
    }
    return Outcome(
      text: "\(count) stars at once: \(found.given) given, \(found.counted) counted",
      isRight: isRight
    )
  }

  /// Waits until the post is the selected one.
  private func isOnTop(_ title: String, of actor: DemoPlan.Actor) -> Bool {
    // What arrives after a jump was not jumped to, so the jump is repeated.
    for _ in 0..<20 where !hasEnded {
      showNewest(in: [actor.pane])
      let isSelected = waits(for: Self.patience / 20) {
        terminals.screen(of: actor.pane).split(separator: "\n").contains { line in
          (line.hasPrefix("▌") || line.hasPrefix(">")) && line.contains(title.prefix(12))
        }
      }
      if isSelected { return true }
    }
    return false
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
    // Whatever is sent twice would be there by now.
    pause(1_000)
    let count = root().map { DemoAudit.count(of: title, in: $0) } ?? 0
    let times = count == 1 ? "once" : "\(count) times"
    return Outcome(
      text: "\(actor.name) wrote one post offline: it arrived \(times)",
      isRight: isOff && wasHidden && arrived && count == 1
    )
  }

  // MARK: Refusal

  private func refuse() -> DemoFigures.Outcome {
    guard let stranger = plan.stranger, let before = root(),
      let post = before["posts"]?.members?.last
    else { return Outcome(text: "there is no post", isRight: false) }
    let pane = stranger.pane
    // The lists of others move; this one must show the post first.
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
    guard let server = place.serverProcess, let before = root(), let actor = plan.actors.first
    else {
      return Outcome(text: "there is no server", isRight: false)
    }
    let posts = Set((before["posts"]?.members ?? []).map(\.name))
    kill(server, SIGKILL)
    let title = nextTitle(by: actor)
    write(title, by: actor)
    terminals.press(["C-s"], in: [actor.pane])
    let other = plan.actors.last?.pane ?? plan.own
    if plan.actors.count > 1 { showNewest(in: [other]) }
    let arrived = appears(title, in: other, within: 60_000)
    let after = Set((root()?["posts"]?.members ?? []).map(\.name))
    let kept = posts.intersection(after).count
    let next = place.serverProcess ?? 0
    return Outcome(
      text: "server \(server) was killed, \(next) went on: \(kept) of \(posts.count) posts kept",
      isRight: arrived && kept == posts.count && next > 0 && next != server
    )
  }
}
