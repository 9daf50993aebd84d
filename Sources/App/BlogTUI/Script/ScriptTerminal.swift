/// A terminal whose user is a script.
///
/// Its screen is shown to nobody, or to a spectator at a real terminal. Time passes only where
/// the script says so, which makes runs reproducible.
@MainActor
package final class ScriptTerminal: TerminalDevice {
  /// What the script needs of the world around it.
  @MainActor
  package struct World {
    /// Waits for something to happen, for a short time at most.
    package var wait: () -> Void
    /// Lets time pass, in milliseconds.
    package var pass: (Int64) -> Void
    /// Whether nothing is under way.
    package var isIdle: () -> Bool
    /// Gives the program an event.
    package var send: (Event) -> Void
    /// Whether the last wait has taken too long by now.
    package var isLate: (_ isFirstLook: Bool) -> Bool
    /// Lets somebody else do something, or tells how far they are; asked again until it is done.
    package var act: (_ name: String, Script.Act, _ isFirstLook: Bool) -> Script.Progress
    /// Gives whoever looks on so many milliseconds to do so; returns why to stop, if they want
    /// that.
    package var look: (Int64) -> TerminalEvent? = { _ in nil }

    /// Makes a world in which nobody looks on.
    package init(
      wait: @escaping () -> Void,
      pass: @escaping (Int64) -> Void,
      isIdle: @escaping () -> Bool,
      send: @escaping (Event) -> Void,
      isLate: @escaping (_ isFirstLook: Bool) -> Bool,
      act: @escaping (String, Script.Act, _ isFirstLook: Bool) -> Script.Progress
    ) {
      self.wait = wait
      self.pass = pass
      self.isIdle = isIdle
      self.send = send
      self.isLate = isLate
      self.act = act
    }
  }

  /// How long a pause of the script lasts at most for whoever looks on, in milliseconds.
  private static let longestLook: Int64 = 3_000

  package private(set) var size: Size
  package let glyphs: GlyphSet
  /// What has failed, if anything.
  package private(set) var failure: Script.Failure?
  /// The world; set before the program runs.
  package var world: World?

  private let mirror: (any TerminalDevice)?
  private let pace: Int64
  private var lines: ArraySlice<Script.Line>
  private var keys: ArraySlice<KeyEvent> = []
  private var screen: Screen?
  private var isWaiting = false
  private var quietLooks = 0

  /// Makes a terminal.
  ///
  /// - Parameters:
  ///   - script: What the user does.
  ///   - size: The number of columns and rows, until the script says otherwise.
  ///   - glyphs: The signs that can be shown.
  ///   - mirror: A terminal that shows the same.
  ///   - pace: The milliseconds before each key, for whoever looks on.
  package init(
    _ script: Script,
    size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode,
    mirror: (any TerminalDevice)? = nil,
    pace: Int64 = 0
  ) {
    lines = script.lines[...]
    self.pace = pace
    self.size = size
    self.glyphs = glyphs
    self.mirror = mirror
  }

  package func nextEvents(timeout: Duration?) -> [TerminalEvent] {
    if let key = keys.popFirst() { return world?.look(pace).map { [$0] } ?? [.key(key)] }
    guard let line = lines.first else { return [.terminate(signal: 0)] }
    if let end = world?.look(0) { return [end] }
    switch line.step {
    case .keys(let typed):
      keys = typed[...]
      return advance()
    case .command(let text):
      world?.send(.command(text))
      return advance()
    case .size(let new):
      size = new
      return advance([.key(.resize(new))])
    case .pause(let time):
      if let end = world?.look(pace == 0 ? 0 : min(time, Self.longestLook)) { return [end] }
      world?.pass(time)
      return advance()
    case .waitFor(let text):
      return wait(until: shows(text), at: line, failure: "\"\(text)\" did not appear")
    case .waitIdle:
      // One look may come between a key and what it begins; two in a row do not.
      quietLooks = world?.isIdle() == true ? quietLooks + 1 : 0
      return wait(until: quietLooks > 2, at: line, failure: "something is still under way")
    case .expect(let text):
      return shows(text) ? advance() : fail(line, because: "\"\(text)\" is not on the screen")
    case .refuse(let text):
      return shows(text) ? fail(line, because: "\"\(text)\" is on the screen") : advance()
    case .other(let name, let act):
      switch world?.act(name, act, !isWaiting) ?? .done {
      case .underWay: return wait(until: false, at: line, failure: "\(name) is not done")
      case .done: return advance()
      case .refused(let reason): return fail(line, because: "\(name) was refused: \(reason)")
      }
    }
  }

  private func shows(_ text: String) -> Bool { screen?.text().contains(text) == true }

  private func advance(_ events: [TerminalEvent] = [.woken]) -> [TerminalEvent] {
    lines.removeFirst()
    isWaiting = false
    quietLooks = 0
    return events
  }

  private func wait(
    until isDone: Bool,
    at line: Script.Line,
    failure reason: String
  ) -> [TerminalEvent] {
    if isDone { return advance() }
    if world?.isLate(!isWaiting) != false { return fail(line, because: reason) }
    isWaiting = true
    world?.wait()
    return [.woken]
  }

  private func fail(_ line: Script.Line, because reason: String) -> [TerminalEvent] {
    failure = Script.Failure(line: line.number, reason: reason)
    return [.terminate(signal: 0)]
  }

  package func render(_ screen: Screen) {
    self.screen = screen
    mirror?.render(screen)
  }

  /// Shows the last screen again, where it was lost.
  package func showAgain() {
    mirror?.redraw()
    if let screen { mirror?.render(screen) }
  }

  package func redraw() { mirror?.redraw() }
  package func suspend() {}
  package func bell() { mirror?.bell() }
  package func notify(_ text: String) { mirror?.notify(text) }
}
