/// The loop that connects a terminal and a replay, until the user leaves.
@MainActor
package final class ReplayProgram<Terminal: TerminalDevice> {
  private let terminal: Terminal
  private var player: ReplayPlayer
  private var shown: Screen?

  /// Makes a program; nothing happens before ``run()``.
  package init(terminal: Terminal, recording: Recording) {
    self.terminal = terminal
    player = ReplayPlayer(recording, size: terminal.size, glyphs: terminal.glyphs)
  }

  /// Runs until the user leaves or the terminal is gone, and tells which; blocks the caller.
  package func run() -> Ending {
    while true {
      draw()
      let events = terminal.nextEvents(timeout: player.pause)
      if events.isEmpty { player.play() }
      for event in events {
        if let ending = handle(event) { return ending }
      }
    }
  }

  private func handle(_ event: TerminalEvent) -> Ending? {
    switch event {
    case .key(.control("z")):
      terminal.suspend()
      redraw()
    case .key(.control("l")), .resumed: redraw()
    case .key(let key): player.handle(key)
    case .woken: break
    case .hangUp: return .hangUp
    case .terminate(let signal): return .terminated(signal: signal)
    }
    return player.hasEnded ? .quit : nil
  }

  private func redraw() {
    shown = nil
    terminal.redraw()
  }

  private func draw() {
    let screen = player.view()
    guard screen != shown else { return }
    terminal.render(screen)
    shown = screen
  }
}
