/// A terminal whose user is a script.
///
/// Its screen is not shown, or is shown to a spectator at a real terminal. Time passes only where
/// the script says so, which makes runs reproducible.
@MainActor
package final class ScriptTerminal: TerminalDevice {
  /// What the script needs from its environment.
  @MainActor
  package struct World {
    /// Waits for something to happen, but only for a short time.
    package var wait: () -> Void
    /// Lets the given time pass, in milliseconds.
    package var pass: (Int64) -> Void
    /// Whether nothing is in progress.
    package var isIdle: () -> Bool
    /// Sends an event to the program.
    package var send: (Event) -> Void
    /// Whether the current wait has taken too long.
    package var isLate: (_ isFirstLook: Bool) -> Bool
    /// Starts an act of another user, or returns its progress; called again until it is done.
    package var act: (_ name: String, Script.Act, _ isFirstLook: Bool) -> Script.Progress
    /// Compares what the server holds at a path with JSON, or returns the progress of that; called
    /// again until it is done.
    package var data: (_ path: String, _ json: String, _ isFirstLook: Bool) -> Script.Progress
    /// Gives a spectator that many milliseconds to watch; returns the event that ends the run if
    /// the spectator wants to stop.
    package var look: (Int64) -> TerminalEvent? = { _ in nil }

    /// Makes a world without a spectator.
    package init(
      wait: @escaping () -> Void,
      pass: @escaping (Int64) -> Void,
      isIdle: @escaping () -> Bool,
      send: @escaping (Event) -> Void,
      isLate: @escaping (_ isFirstLook: Bool) -> Bool,
      act: @escaping (String, Script.Act, _ isFirstLook: Bool) -> Script.Progress,
      data: @escaping (String, String, _ isFirstLook: Bool) -> Script.Progress
    ) {
      self.wait = wait
      self.pass = pass
      self.isIdle = isIdle
      self.send = send
      self.isLate = isLate
      self.act = act
      self.data = data
    }
  }

  /// The longest time that a spectator waits during a pause of the script, in milliseconds.
  private static let longestLook: Int64 = 3_000

  package private(set) var size: Size
  package let glyphs: GlyphSet
  /// The step that failed, if one did.
  package private(set) var failure: Script.Failure?
  /// The last screen that was drawn.
  package private(set) var screen: Screen?
  /// The world; set before the program runs.
  package var world: World?

  private let mirror: (any TerminalDevice)?
  private let pace: Int64
  private let stepCount: Int
  private var lines: ArraySlice<Script.Line>
  private var keys: ArraySlice<KeyEvent> = []
  private var isWaiting = false
  private var quietLooks = 0

  /// Makes a terminal.
  ///
  /// - Parameters:
  ///   - script: The actions of the user.
  ///   - size: The number of columns and rows, until the script changes it.
  ///   - glyphs: The symbols that can be shown.
  ///   - mirror: A terminal that shows the same screens.
  ///   - pace: The pause before each key for a spectator, in milliseconds.
  package init(
    _ script: Script,
    size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode,
    mirror: (any TerminalDevice)? = nil,
    pace: Int64 = 0
  ) {
    lines = script.lines[...]
    stepCount = script.lines.count
    self.pace = pace
    self.size = size
    self.glyphs = glyphs
    self.mirror = mirror
  }

  /// How many steps were played: all of them, unless one failed or the app was left before.
  package var playedSteps: Int { stepCount - lines.count }

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
    case .clock(let time):
      world?.pass(time)
      return advance()
    case .data(let path, let json, let waits):
      return compare(path, json, waits: waits, at: line)
    case .waitFor(let text):
      return wait(until: shows(text), at: line, failure: "\"\(text)\" did not appear")
    case .waitIdle:
      // A single idle look may fall between a key and its effects; several in a row cannot.
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

  private func compare(
    _ path: String,
    _ json: String,
    waits: Bool,
    at line: Script.Line
  ) -> [TerminalEvent] {
    switch world?.data(path, json, !isWaiting) ?? .done {
    case .done: return advance()
    case .underWay: return wait(until: false, at: line, failure: "the server does not answer")
    case .refused(let found):
      guard waits else { return fail(line, because: found) }
      return wait(until: false, at: line, failure: found)
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

  /// Shows the last screen again, after the mirror has lost it.
  package func showAgain() {
    mirror?.redraw()
    if let screen { mirror?.render(screen) }
  }

  package func redraw() { mirror?.redraw() }
  package func suspend() {}
  package func bell() { mirror?.bell() }
  package func notify(_ text: String) { mirror?.notify(text) }
}
