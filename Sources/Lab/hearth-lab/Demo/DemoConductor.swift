import BlogModel
import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import RealtimeDatabase

/// The program of the live pane: it directs the actors, measures, and shows the results.
@MainActor
struct DemoConductor {
  private let folder: DemoFolder
  private let plan: DemoPlan

  init(_ folder: DemoFolder) throws {
    self.folder = folder
    plan = try DemoPlan(from: folder.plan)
  }

  /// Runs until the demonstration is over.
  func run() throws {
    let board = DemoBoard()
    let nemesis = try DemoDirector.begin(plan, in: folder, at: TmuxServer(folder), board)
    let terminal = try NcursesTerminal.opened(TerminalOptions(usesMouse: false))
    show(board, nemesis, on: terminal)
    board.with { $0.hasEnded = true }
    terminal.close()
    TmuxServer(folder).run(["kill-server"])
  }

  /// Shows the figures until the demonstration ends.
  private func show(_ board: DemoBoard, _ nemesis: DemoNemesis, on terminal: NcursesTerminal) {
    let end = plan.wishes.seconds.map { ContinuousClock.now + .seconds($0) }
    let hint: SafeText =
      plan.wishes.presents
      ? "F8 next  F7 back  F9 next terminal  F10 end" : "F9 next terminal  F10 end"
    while !board.now.hasEnded {
      if let end, ContinuousClock.now >= end { return }
      board.sample()
      let pane = board.now.pane(harms: nemesis.all, hint: hint, glyphs: terminal.glyphs)
      terminal.render(pane.screen(size: terminal.size, glyphs: terminal.glyphs))
      for event in terminal.nextEvents(timeout: .milliseconds(200)) {
        switch event {
        case .key(.character("q")), .key(.escape), .key(.control("c")), .escaped, .hangUp,
          .terminate:
          return
        case .key(.character(" ")), .key(.enter), .key(.right): board.ask(.next)
        case .key(.character("b")), .key(.left): board.ask(.back)
        case .key(.character(let digit)):
          DemoHarm(digit).map(nemesis.perform)
        case .key, .resumed, .woken, .unreadable: break
        }
      }
    }
  }
}

/// People without a terminal who keep starring the newest post, to provide the transactions that
/// are counted.
struct DemoCrowd: Sendable {
  private static let names = ["gale", "hana"]
  /// How long a person waits between two stars.
  private static let pause = Duration.milliseconds(400)

  let url: String
  let board: DemoBoard

  /// Lets the people star until the demonstration is over.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for name in Self.names { group.addTask { await run(name) } }
    }
  }

  private func run(_ name: String) async {
    guard let (blog, database) = try? Blog.open(as: name, at: url) else { return }
    database.observeDiagnostics { [board] in note($0, on: board) }
    // With an observer on the posts, the first guess is right, so only real races are retried.
    database.reference().observe(.value) { _ in }
    var isStarred = false
    while !board.now.hasEnded {
      if let post = try? await blog.posts(.recent).first {
        isStarred.toggle()
        _ = try? await blog.perform(.star(post.id, isStarred))
      }
      await Pause.lasting(Self.pause)
    }
    await database.close()
  }

  /// Counts each attempt of a transaction after its first as a retry.
  private func note(_ diagnostic: Diagnostic, on board: DemoBoard) {
    guard case .attempt(let number) = diagnostic.transactionStep else { return }
    board.with { figures in
      figures.attempts += 1
      if number > 1 { figures.retries += 1 }
    }
  }
}

extension Blog {
  /// Opens a blog for somebody who needs no terminal.
  static func open(as name: String, at url: String) throws -> (blog: Blog, database: Database) {
    let database = try Database(url: url, options: DatabaseOptions())
    // The main thread belongs to the terminal.
    database.callbackQueue = DispatchQueue(label: "hearth.demo.\(name)")
    return (Blog(database: database, me: try Author(userName: name)), database)
  }
}
