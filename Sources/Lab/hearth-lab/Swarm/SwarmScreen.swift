import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers

/// The figures of a run, told by its threads and shown by one.
final class SwarmBoard: Sendable {
  private struct State {
    var figures: SwarmFigures
    var messages: [String] = []
    var isOver = false
  }

  private let state: NIOLockedValueBox<State>

  init(_ settings: SwarmSettings) {
    state = NIOLockedValueBox(State(figures: SwarmFigures(settings)))
  }

  func take(_ news: SwarmNews) {
    state.withLockedValue { state in
      if case .message(let message) = news { state.messages.append(message) }
      state.figures.take(news)
    }
  }

  func sample() { state.withLockedValue { $0.figures.sample() } }

  /// Ends the storm; false if that was asked for before, or there is none.
  func stop() -> Bool {
    state.withLockedValue { state in
      defer { state.figures.isStopped = true }
      return state.figures.canStop
    }
  }

  func finish() { state.withLockedValue { $0.isOver = true } }

  var isStopped: Bool { state.withLockedValue(\.figures.isStopped) }
  var isOver: Bool { state.withLockedValue(\.isOver) }
  var pane: LivePane { state.withLockedValue(\.figures.pane) }
  /// What was told and is still to be printed.
  var messages: [String] { state.withLockedValue(\.messages) }
}

/// Shows a run on the terminal.
@MainActor
struct SwarmScreen {
  private let board: SwarmBoard
  private let terminal: NcursesTerminal

  /// Takes over the terminal.
  init(_ board: SwarmBoard) throws {
    self.board = board
    terminal = try NcursesTerminal.opened(TerminalOptions(usesMouse: false))
  }

  /// Carries out a run and shows it until it is over; then the terminal is as it was.
  ///
  /// - Throws: The error that prevented the run, or the exit code of one that was ended at once.
  func show(_ outing: SwarmOuting) async throws -> SwarmReport {
    // This thread belongs to the terminal.
    let work = Task.detached { [board, wake = terminal.wake] in
      defer {
        board.finish()
        wake()
      }
      return try await outing.result(watching: false)
    }
    let signal = await follow()
    terminal.close()
    for message in board.messages { Output.message(message) }
    if let signal { await outing.end(signal) }
    return try await work.value
  }

  /// Draws until the run is over, or returns the signal that ends it at once.
  private func follow() async -> Int32? {
    var due = ContinuousClock.now
    while !board.isOver {
      if due <= .now {
        board.sample()
        due += SwarmFigures.interval
      }
      terminal.render(board.pane.screen(size: terminal.size, glyphs: terminal.glyphs))
      for event in terminal.nextEvents(timeout: .milliseconds(100)) {
        switch event {
        case .key(.character("q")), .key(.control("c")), .key(.escape):
          if !board.stop() { return SIGINT }
        case .hangUp: return SIGHUP
        case .terminate(let number): return number
        case .resumed: terminal.redraw()
        case .key, .escaped, .woken, .unreadable: break
        }
      }
      // Callbacks of the run may need this thread.
      await Task.yield()
    }
    return nil
  }
}
