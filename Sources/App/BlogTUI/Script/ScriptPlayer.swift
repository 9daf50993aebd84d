/// Plays a script: tells terminals what their users do, and checks what they show.
///
/// Time passes only where the script says so, which makes runs reproducible.
@MainActor
package final class ScriptPlayer {
  /// The longest time that a spectator waits during a pause of the script, in milliseconds.
  private static let longestLook: Int64 = 3_000

  /// The step that failed, if one did.
  package private(set) var failure: Script.Failure?

  private let world: any ScriptWorld
  /// The pause before each key for a spectator, in milliseconds.
  private let pace: Int64
  private let stepCount: Int
  private var lines: ArraySlice<Script.Line>
  private var keys: ArraySlice<KeyEvent> = []
  private var isWaiting = false
  private var quietLooks = 0

  package init(_ script: Script, in world: any ScriptWorld, pace: Int64 = 0) {
    lines = script.lines[...]
    stepCount = script.lines.count
    self.world = world
    self.pace = pace
  }

  /// How many steps were played: all of them, unless one failed or the app was left before.
  package var playedSteps: Int { stepCount - lines.count }

  /// Plays on, a step or a key at most, and returns what happens to the terminal in use.
  ///
  /// Nil if the script is over.
  package func next() async -> [TerminalEvent]? {
    if !keys.isEmpty, world.terminal == nil { keys = [] }
    if let key = keys.popFirst() { return world.look(pace) ? [.key(key)] : nil }
    if let line = lines.first, case .command = line.step, isWaiting {
      if let reason = world.commandFailure { return fail(line, because: reason) }
      guard isDone else {
        world.wait()
        return [.woken]
      }
      _ = advance()
    }
    guard let line = lines.first, world.look(0) else { return nil }
    switch line.step {
    case .keys, .command, .size, .waitFor, .waitIdle, .expect, .refuse:
      guard let terminal = world.terminal else {
        if world.wasLeft { return nil }
        return fail(line, because: "no terminal is in use; \"terminal NAME\" starts one")
      }
      return play(line, at: terminal)
    case .pause(let time):
      guard world.look(pace == 0 ? 0 : min(time, Self.longestLook)) else { return nil }
      world.pass(time)
      return advance()
    case .clock(let time):
      world.pass(time)
      return advance()
    case .data(let path, let json, let waits):
      let found = world.data(at: path, comparedWith: json, isFirstLook: !isWaiting)
      if waits, case .refused(let there) = found { return wait(at: line, failure: there) }
      return follow(found, at: line, slow: "the server does not answer") { $0 }
    case .other(let name, let act):
      let progress = world.act(act, by: name, isFirstLook: !isWaiting)
      let slow =
        act.subject.map { "\(name) sees no post \"\($0)\", or the server does not answer" }
        ?? "the server does not answer \(name)"
      return follow(progress, at: line, slow: slow) {
        "\(name) was refused: \($0)"
      }
    case .change(let change):
      return await world.make(change).map { fail(line, because: $0) } ?? advance()
    }
  }

  private func play(_ line: Script.Line, at terminal: ScriptTerminal) -> [TerminalEvent]? {
    switch line.step {
    case .keys(let typed): keys = typed[...]
    case .command(let text):
      world.send(.command(text))
      // Whether it has failed is known once all that it has caused is answered.
      _ = world.isLate(isFirstLook: true)
      isWaiting = true
      return [.woken]
    case .size(let size):
      terminal.size = size
      return advance([.key(.resize(size))])
    case .waitFor(let text):
      guard terminal.shows(text) else {
        return wait(at: line, failure: "\"\(text)\" did not appear")
      }
    case .waitIdle:
      if !looksQuiet() { return wait(at: line, failure: "something is still under way") }
    case .expect(let text):
      if !terminal.shows(text) { return fail(line, because: "\"\(text)\" is not on the screen") }
    case .refuse(let text):
      if terminal.shows(text) { return fail(line, because: "\"\(text)\" is on the screen") }
    case .pause, .clock, .data, .other, .change: break
    }
    return advance()
  }

  /// Whether a command has no more effects to come; without a connection, nothing is answered.
  private var isDone: Bool { looksQuiet() || !world.isOnline || world.isLate(isFirstLook: false) }

  private func looksQuiet() -> Bool {
    // A single idle look may fall between a key and its effects; several in a row cannot.
    quietLooks = world.isIdle ? quietLooks + 1 : 0
    return quietLooks >= 3
  }

  private func follow(
    _ progress: Script.Progress,
    at line: Script.Line,
    slow: String,
    refusal: (String) -> String
  ) -> [TerminalEvent]? {
    switch progress {
    case .underWay: wait(at: line, failure: slow)
    case .done: advance()
    case .refused(let reason): fail(line, because: refusal(reason))
    }
  }

  private func advance(_ events: [TerminalEvent] = [.woken]) -> [TerminalEvent] {
    lines.removeFirst()
    isWaiting = false
    quietLooks = 0
    return events
  }

  private func wait(at line: Script.Line, failure reason: String) -> [TerminalEvent]? {
    if world.isLate(isFirstLook: !isWaiting) { return fail(line, because: reason) }
    isWaiting = true
    world.wait()
    return [.woken]
  }

  private func fail(_ line: Script.Line, because reason: String) -> [TerminalEvent]? {
    failure = Script.Failure(line: line.number, reason: reason)
    return nil
  }
}

/// What a script needs from its environment.
@MainActor
package protocol ScriptWorld: AnyObject {
  /// The terminal in use; nil while none runs.
  var terminal: ScriptTerminal? { get }
  /// Whether none runs because its user has left the app.
  var wasLeft: Bool { get }
  /// Whether nothing is in progress at the terminal in use.
  var isIdle: Bool { get }
  /// Whether the terminal in use has a connection.
  var isOnline: Bool { get }
  /// What has failed at the terminal in use since its last command; nil if nothing has.
  var commandFailure: String? { get }

  /// Waits for something to happen, but only for a short time.
  func wait()
  /// Lets the given time pass, in milliseconds.
  func pass(_ milliseconds: Int64)
  /// Sends an event to the program at the terminal in use.
  func send(_ event: Event)
  /// Whether the current wait has taken too long.
  func isLate(isFirstLook: Bool) -> Bool
  /// Starts an act of another user, or returns its progress; called again until it is done.
  func act(_ act: Script.Act, by name: String, isFirstLook: Bool) -> Script.Progress
  /// Compares what the server holds at a path with JSON, or returns the progress of that; called
  /// again until it is done.
  func data(at path: String, comparedWith json: String, isFirstLook: Bool) -> Script.Progress
  /// Changes the terminals, the server or the network; returns why it cannot be done.
  func make(_ change: Script.Change) async -> String?
  /// Gives a spectator that many milliseconds to watch; false if they want to stop.
  func look(_ milliseconds: Int64) -> Bool
}

/// A terminal in a script, whose screen is not shown, or is shown to a spectator at a real terminal.
@MainActor
package final class ScriptTerminal: TerminalDevice {
  package fileprivate(set) var size: Size
  package let glyphs: GlyphSet
  /// The last screen that was drawn.
  package private(set) var screen: Screen?
  /// A terminal that shows the same screens, as long as this one is in use.
  package var mirror: (any TerminalDevice)? {
    didSet { showAgain() }
  }

  /// Makes a terminal, whose size the script may change.
  package init(size: Size = Size(width: 80, height: 24), glyphs: GlyphSet = .unicode) {
    self.size = size
    self.glyphs = glyphs
  }

  fileprivate func shows(_ text: String) -> Bool { screen?.text().contains(text) == true }

  package func render(_ screen: Screen) {
    self.screen = screen
    mirror?.render(screen)
  }

  /// Shows the last screen again, after the mirror has lost it.
  package func showAgain() {
    mirror?.redraw()
    if let screen { mirror?.render(screen) }
  }

  /// Nothing: a ``ScriptPlayer`` says what happens.
  package func nextEvents(timeout: Duration?) -> [TerminalEvent] { [] }
  package func redraw() { mirror?.redraw() }
  package func suspend() {}
  package func bell() { mirror?.bell() }
  package func notify(_ text: String) { mirror?.notify(text) }
}
