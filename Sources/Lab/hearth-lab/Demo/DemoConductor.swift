import BlogTUI
import Foundation
import HearthProgram
import RealtimeTransport

/// The program of the live pane: it has the others act, measures, and shows what comes of it.
@MainActor
struct DemoConductor {
  private let place: DemoPlace
  private let plan: DemoPlan

  /// Reads the plan.
  ///
  /// - Throws: What the system reports when there is none.
  init(_ place: DemoPlace) throws {
    self.place = place
    plan = try DemoPlan(from: place.plan)
  }

  /// Runs until the demonstration is over.
  ///
  /// - Throws: ``CommandFailure`` when there is no terminal.
  func run() throws {
    let board = DemoBoard()
    let cable = plan.database == nil ? DemoCable(to: place.socket) : nil
    try cable?.lay(at: place.cable)
    let url = plan.database ?? DemoPlace.url(place.socket)
    let meter = DemoMeter(try Self.target(url), board: board, figuresFile: place.figures)
    let crowd = DemoCrowd(url: url, board: board)
    // This thread is the terminal's.
    Task.detached { await meter.run() }
    Task.detached { await crowd.run() }
    start(board, meter, cable)
    let terminal = try TerminalScreen(TerminalOptions(colorMode: .automatic, usesMouse: false))
    show(board, on: terminal)
    board.with { $0.hasEnded = true }
    terminal.close()
    TmuxServer(place).run(["kill-server"])
  }

  /// Where a URL leads.
  ///
  /// - Throws: What is wrong with the URL.
  static func target(_ url: String) throws -> ConnectionTarget {
    try DatabaseURL(url).target
  }

  /// Lets the director work on a thread of its own.
  private func start(_ board: DemoBoard, _ meter: DemoMeter, _ cable: DemoCable?) {
    Thread.detachNewThread { [plan, place] in
      let director = DemoDirector(
        plan,
        place: place,
        terminals: TmuxServer(place),
        board: board,
        meter: meter,
        cable: cable
      )
      director.run()
    }
  }

  /// Shows the figures until something ends that.
  private func show(_ board: DemoBoard, on terminal: TerminalScreen) {
    let end = plan.seconds.map { ContinuousClock.now + .seconds($0) }
    while !board.now.hasEnded {
      if let end, ContinuousClock.now >= end { return }
      terminal.render(
        DemoView.screen(
          board.now,
          size: terminal.size,
          glyphs: terminal.glyphs,
          hint: plan.presents ? "Space next scene  q end" : "q end"
        )
      )
      for event in terminal.nextEvents(timeout: .milliseconds(200)) {
        switch event {
        case .key(.character("q")), .key(.escape), .key(.control("c")), .hangUp, .terminate:
          return
        case .key(.character(" ")), .key(.enter): board.with { $0.isAskedToGoOn = true }
        case .key, .resumed, .woken: break
        }
      }
    }
  }
}
